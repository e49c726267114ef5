/**
 * Patterns of the tests that take minutes: crashes, failovers, simulated days, other people's packages and servers. `npm run
 * test:all` and continuous integration run them.
 */
export const longTests = [
  "/test/bench/",
  "/test/promises/(crash|explorer|failover|faults|processes|simulation)/",
  "/test/promises/threats/(denial-of-service|uncovered-fields|every-row)",
  "/test/shop/",
  "/test/stores/",
  "/test/store/sql/mysql/galera",
];

/** What the summary says about them. */
export const whyLong =
  "the long tests (crashes, failovers, the simulation, the browser, the example stores) and the tests on the packed package: npm run test:all";
