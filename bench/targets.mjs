// The targets of the kit. Each is a ratio of two contenders of one suite, taken round by round.
import { suites } from "./contenders/index.mjs";

const byHand = "Express by hand";
const memory = "tillkit in memory";
const cpu = { key: "cpuUs", what: "server CPU" };
const databaseCpu = { key: "databaseCpuUs", what: "database CPU" };
const rate = { key: "perSecond", what: "webhooks/s" };
const p50 = { key: "p50Ms", what: "p50" };

const peersOnExpress = suites
  .find(({ name }) => name === "memory")
  .contenders.filter(({ onExpress }) => onExpress)
  .map(({ name }) => name);

/** The targets. `of` is compared with `to`, or with each of `toEach`, of which the worst result counts. */
export const targets = [
  { suite: "memory", ...cpu, of: memory, to: byHand, atMost: 0.9 },
  { suite: "memory", ...cpu, of: memory, toEach: peersOnExpress, atMost: 1 },
  { suite: "memory", ...cpu, of: `${memory}, pre-shaped`, to: byHand, atMost: 0.4 },
  { suite: "memory", ...cpu, of: `${memory}, pre-shaped`, to: byHand, atMost: 0.25 },
  { suite: "memory", ...cpu, of: `${memory}, logging`, to: memory, atMost: 1.3 },
  { suite: "memory", ...cpu, of: `${memory}, handler`, to: memory, atMost: 2.5 },
  { suite: "memory-8", ...cpu, of: `${memory}, pre-shaped`, to: byHand, atMost: 0.25 },
  // With one connection there is nothing to group, so grouping must cost nothing.
  {
    suite: "memory-1",
    ...cpu,
    of: `${memory}, pre-shaped`,
    to: `${memory}, pre-shaped, ungrouped`,
    atMost: 1,
  },
  ...durable("sqlite", "SQLite", { stock: 2.5, preShaped: 5 }),
  // Compared with code that stores nothing.
  { suite: "sqlite", ...cpu, of: "tillkit on SQLite", to: byHand, atMost: 1 },
  { suite: "sqlite", ...cpu, of: "tillkit on SQLite, pre-shaped", to: byHand, atMost: 0.45 },
  ...durable("postgres", "PostgreSQL", { stock: 2, preShaped: 5 }),
  { suite: "postgres", ...databaseCpu, of: "tillkit on PostgreSQL", to: "PostgreSQL by hand", atMost: 0.25 },
  ...durable("mysql", "MySQL", {}),
  ...booking("sqlite", "SQLite", 4),
  ...booking("postgres", "PostgreSQL", 3),
  ...booking("mysql", "MySQL", 2),
];

/** Returns the targets of a handler that updates the order's row, and of the whole order, which must cost no more than by hand. */
function booking(store, name, atLeast) {
  const pair = { of: `tillkit on ${name}, shared handler`, to: `${name} by hand, order's row` };
  const orders = { ...rate, what: "orders/s" };
  const checks = [
    { suite: `order-${store}`, ...orders, ...pair, atLeast },
    { suite: `whole-${store}`, ...orders, ...pair, atLeast: 1 },
    { suite: `whole-${store}`, ...cpu, ...pair, atMost: 1 },
    { suite: `order-${store}`, ...databaseCpu, ...pair, atMost: 0.5 },
    { suite: `whole-${store}`, ...databaseCpu, ...pair, atMost: 1 },
  ];
  return store === "sqlite" ? checks.slice(0, 3) : checks;
}

/** Returns the targets that every database has. MySQL has no target for webhooks per second. */
function durable(suite, name, { stock, preShaped }) {
  const kit = `tillkit on ${name}`;
  const hand = `${name} by hand`;
  const rates = [
    { suite, ...rate, of: kit, to: hand, atLeast: stock },
    { suite, ...rate, of: `${kit}, pre-shaped`, to: hand, atLeast: preShaped },
  ];
  const handler = { suite, of: `${kit}, handler`, to: kit, atMost: 2.5 };
  return [
    ...rates.filter(({ atLeast }) => atLeast !== undefined),
    { suite: `single-${suite}`, ...p50, of: kit, to: hand, atMost: 1.15 },
    { suite, ...cpu, of: `${kit}, logging`, to: kit, atMost: 1.3 },
    { ...handler, ...cpu },
    ...(suite === "sqlite" ? [] : [{ ...handler, ...databaseCpu }]),
  ];
}
