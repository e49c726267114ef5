// The contenders of each suite. Ratios within a suite refer to its `reference`.

const byHand = { name: "Express by hand", file: "express-by-hand.mjs" };
const sqliteByHand = { name: "SQLite by hand", file: "naive-sqlite.mjs" };
const sqliteByHandTuned = {
  ...sqliteByHand,
  name: "SQLite by hand, the kit's pragmas",
  options: { pragmas: true },
};
const postgresByHand = { name: "PostgreSQL by hand", file: "naive-postgres.mjs" };
const mysqlByHand = { name: "MySQL by hand", file: "naive-mysql.mjs" };
const bare = { name: "node:http, bare", file: "bare.mjs" };

/** `peers`: the contender needs the packages of bench/package.json. `onExpress`: it runs on Express, as the kit does. */
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
  "Durable before the response. By hand: one transaction per webhook, which inserts the event and updates the payment, by prepared " +
  "statements.";
const booked =
  "Orders that are booked, each second: the handler updates one row. By hand: the same in the transaction of the webhook, by prepared " +
  "statements.";
const whole =
  "Each order: the checkout creates the payment at a service on loopback that answers immediately, then comes the webhook, and the " +
  "handler updates one row. By hand: the payment is stored before the request, and the answer after it, each by one statement; the rest " +
  "as above.";
const databases = [
  ["SQLite", "sqlite"],
  ["PostgreSQL", "postgres"],
  ["MySQL", "mysql"],
];
const single = "One webhook at a time: grouping must not make it wait.";

/** `server`: the suite needs a server of that kind. The most important suites come first, in case there is no time for all. */
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
    contenders: [byHand, sqliteByHand, sqliteByHandTuned, ...onStore("SQLite", "sqlite")],
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
    name: "single-sqlite",
    title: "SQLite, one connection",
    says: single,
    connections: 1,
    reference: sqliteByHand.name,
    contenders: [sqliteByHand, ...oneByOne("SQLite", "sqlite")],
  },
  {
    name: "single-postgres",
    title: "PostgreSQL, one connection",
    says: single,
    server: "postgres",
    connections: 1,
    reference: postgresByHand.name,
    contenders: [postgresByHand, ...oneByOne("PostgreSQL", "postgres")],
  },
  {
    name: "memory-8",
    title: "In memory, 8 connections",
    says: "Small groups, whose responses are sent in one iteration of the event loop. Ungrouped: each webhook by itself.",
    connections: 8,
    reference: byHand.name,
    contenders: [bare, byHand, inMemory, inMemoryPreShaped, ungrouped],
  },
  {
    name: "memory-1",
    title: "In memory, one connection",
    says: `${single} Ungrouped: a commit starts without waiting for the end of the iteration of the event loop.`,
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
    name: "single-mysql",
    title: "MySQL, one connection",
    says: single,
    server: "mysql",
    connections: 1,
    reference: mysqlByHand.name,
    contenders: [mysqlByHand, ...oneByOne("MySQL", "mysql")],
  },
  ...databases.map(([name, store]) => ({
    ...orderSuite(name, store, {}),
    name: `order-${store}`,
    title: `${name}, a webhook and the order's row, 64 connections`,
    says: booked,
  })),
  ...databases.map(([name, store]) => ({
    ...orderSuite(name, store, { checkout: true }),
    name: `whole-${store}`,
    title: `${name}, the whole order, 64 connections`,
    says: whole,
  })),
];

/** Returns the contenders that book orders. */
function orderSuite(name, store, options) {
  const hand = {
    name: `${name} by hand, order's row`,
    file: `naive-${store}.mjs`,
    options: { ...options, order: true },
  };
  const handler = { ...options, store, handler: true };
  const shared = { ...handler, transaction: "shared" };
  return {
    ...(store !== "sqlite" && { server: store }),
    connections: 64,
    unit: "orders",
    reference: hand.name,
    contenders: [
      hand,
      tillkit(`on ${name}, handler`, handler),
      tillkit(`on ${name}, shared handler`, shared),
      tillkit(`on ${name}, shared handler, pre-shaped`, { ...shared, preShaped: true }),
    ],
  };
}

function onStore(name, store) {
  return [
    tillkit(`on ${name}`, { store }),
    tillkit(`on ${name}, pre-shaped`, { store, preShaped: true }),
    tillkit(`on ${name}, logging`, { store, log: true }),
    tillkit(`on ${name}, handler`, { store, handler: true }),
  ];
}

function oneByOne(name, store) {
  return [tillkit(`on ${name}`, { store }), tillkit(`on ${name}, pre-shaped`, { store, preShaped: true })];
}
