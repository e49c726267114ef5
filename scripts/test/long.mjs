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

/** Patterns of the tests that start first: those above, and others that take more than about 20 seconds. */
export const firstTests = [
  ...longTests,
  "/test/frameworks/",
  "/test/package/",
  "/test/promises/(corpora/naughty-webhooks|fuzz/script|threats/public-configuration)",
  "/test/store/sql/(mysql/mysql-store|postgres/postgres-store|clock-jumps|pool-size)",
];

/** The summary's text about the long tests. */
export const whyLong =
  "the long tests (crashes, failovers, the simulation, the browser, the example stores) and the tests on the packed package: npm run test:all";
