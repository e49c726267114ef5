// Who runs against whom. Within a suite everything is measured side by side; `reference` is what the ratios are to.

const byHand = { name: "Express by hand", file: "express-by-hand.mjs" };
const sqliteByHand = { name: "SQLite by hand", file: "naive-sqlite.mjs" };
const postgresByHand = { name: "PostgreSQL by hand", file: "naive-postgres.mjs" };
const mysqlByHand = { name: "MySQL by hand", file: "naive-mysql.mjs" };
const bare = { name: "node:http, bare", file: "bare.mjs" };

/** `peers`: the contender needs the packages of bench/package.json. `onExpress`: it runs there, as the kit does. */
const peers = [
  ["razorpay", "razorpay.mjs"],
  ["stripe", "stripe.mjs"],
  ["standardwebhooks", "standardwebhooks.mjs"],
  ["svix", "svix.mjs"],
  ["paddle", "paddle.mjs"],
  ["dodo", "dodo.mjs"],
  ["polar", "polar.mjs"],
  ["shopify", "shopify.mjs"],
  ["octokit on Express", "octokit.mjs", { onExpress: true }],
  ["octokit on node:http", "octokit.mjs", { onExpress: false }],
].map(([name, file, options]) => ({
  name,
  file,
  options,
  peers: true,
  onExpress: options?.onExpress ?? true,
}));

const tillkit = (name, options) => ({ name: `tillkit ${name}`, file: "tillkit.mjs", options });
const inMemory = tillkit("in memory", { store: "memory" });
const inMemoryPreShaped = tillkit("in memory, pre-shaped", { store: "memory", preShaped: true });
const ungrouped = {
  name: "tillkit in memory, pre-shaped, ungrouped",
  file: "tillkit-ungrouped.mjs",
  options: inMemoryPreShaped.options,
};

const durable =
  "Durable before the answer. By hand: one transaction per webhook, which inserts the event and updates the payment.";
const lone = "One webhook at a time: grouping must not make a lone one wait.";

/** `server`: the suite needs one of that kind. What matters most comes first, should there be no time for the last. */
export const suites = [
  {
    name: "memory",
    title: "In memory, 64 connections",
    says: "Verify and parse. tillkit also validates, reconciles with the payment, and records, in memory.",
    connections: 64,
    reference: byHand.name,
    contenders: [
      bare,
      byHand,
      { name: "Express by hand, zod", file: "express-zod.mjs" },
      ...peers,
      inMemory,
      inMemoryPreShaped,
      tillkit("in memory, logging", { store: "memory", log: true }),
      tillkit("in memory, handler", { store: "memory", handler: true }),
    ],
  },
  {
    name: "sqlite",
    title: "SQLite, WAL, a sync at every commit, 64 connections",
    says: durable,
    connections: 64,
    reference: sqliteByHand.name,
    contenders: [byHand, sqliteByHand, ...onStore("SQLite", "sqlite")],
  },
  {
    name: "postgres",
    title: "PostgreSQL, 64 connections",
    says: durable,
    server: "postgres",
    connections: 64,
    reference: postgresByHand.name,
    contenders: [byHand, postgresByHand, ...onStore("PostgreSQL", "postgres")],
  },
  {
    name: "lone-sqlite",
    title: "SQLite, one connection",
    says: lone,
    connections: 1,
    reference: sqliteByHand.name,
    contenders: [sqliteByHand, ...alone("SQLite", "sqlite")],
  },
  {
    name: "lone-postgres",
    title: "PostgreSQL, one connection",
    says: lone,
    server: "postgres",
    connections: 1,
    reference: postgresByHand.name,
    contenders: [postgresByHand, ...alone("PostgreSQL", "postgres")],
  },
  {
    name: "memory-8",
    title: "In memory, 8 connections",
    says: "The same with fewer that arrive together, whose replies are released together; ungrouped, each by itself.",
    connections: 8,
    reference: byHand.name,
    contenders: [bare, byHand, inMemory, inMemoryPreShaped, ungrouped],
  },
  {
    name: "memory-1",
    title: "In memory, one connection",
    says: `${lone} Ungrouped, a commit begins without a look at what else the turn brings.`,
    connections: 1,
    reference: byHand.name,
    contenders: [bare, byHand, inMemory, inMemoryPreShaped, ungrouped],
  },
  {
    name: "mysql",
    title: "MySQL, 64 connections",
    says: `${durable} CPU of the database is that of the whole server.`,
    server: "mysql",
    connections: 64,
    reference: mysqlByHand.name,
    contenders: [byHand, mysqlByHand, ...onStore("MySQL", "mysql")],
  },
  {
    name: "lone-mysql",
    title: "MySQL, one connection",
    says: lone,
    server: "mysql",
    connections: 1,
    reference: mysqlByHand.name,
    contenders: [mysqlByHand, ...alone("MySQL", "mysql")],
  },
];

function onStore(name, store) {
  return [
    tillkit(`on ${name}`, { store }),
    tillkit(`on ${name}, pre-shaped`, { store, preShaped: true }),
    tillkit(`on ${name}, logging`, { store, log: true }),
    tillkit(`on ${name}, handler`, { store, handler: true }),
  ];
}

function alone(name, store) {
  return [tillkit(`on ${name}`, { store }), tillkit(`on ${name}, pre-shaped`, { store, preShaped: true })];
}
