// Who runs against whom. Within a suite everything is measured side by side; `reference` is what the ratios are to.

const byHand = { name: "Express by hand", file: "express-by-hand.mjs" };
const bare = { name: "node:http, bare", file: "bare.mjs" };

/** `peers`: whether the contender needs the packages of bench/package.json. */
const peers = [
  ["razorpay", "razorpay.mjs"],
  ["stripe", "stripe.mjs"],
  ["standardwebhooks", "standardwebhooks.mjs"],
  ["svix", "svix.mjs"],
  ["paddle", "paddle.mjs"],
  ["dodo", "dodo.mjs"],
  ["polar", "polar.mjs"],
  ["octokit on Express", "octokit.mjs", { onExpress: true }],
  ["octokit on node:http", "octokit.mjs", { onExpress: false }],
].map(([name, file, options]) => ({ name, file, options, peers: true }));

const tillkit = (name, options) => ({ name: `tillkit ${name}`, file: "tillkit.mjs", options });

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
      tillkit("in memory", { store: "memory" }),
      tillkit("in memory, pre-shaped", { store: "memory", preShaped: true }),
      tillkit("in memory, logging", { store: "memory", log: true }),
      tillkit("in memory, handler", { store: "memory", handler: true }),
    ],
  },
  {
    name: "sqlite",
    title: "SQLite, WAL, a sync at every commit, 64 connections",
    says: "Durable before the answer. By hand: one transaction per webhook, which inserts the event and updates the payment.",
    connections: 64,
    reference: "SQLite by hand",
    contenders: [
      byHand,
      { name: "SQLite by hand", file: "naive-sqlite.mjs" },
      tillkit("on SQLite", { store: "sqlite" }),
      tillkit("on SQLite, pre-shaped", { store: "sqlite", preShaped: true }),
      tillkit("on SQLite, handler", { store: "sqlite", handler: true }),
    ],
  },
  {
    name: "postgres",
    title: "PostgreSQL, 64 connections",
    says: "Durable before the answer. By hand: one transaction per webhook, which inserts the event and updates the payment.",
    connections: 64,
    reference: "PostgreSQL by hand",
    contenders: [
      byHand,
      { name: "PostgreSQL by hand", file: "naive-postgres.mjs" },
      tillkit("on PostgreSQL", { store: "postgres" }),
      tillkit("on PostgreSQL, pre-shaped", { store: "postgres", preShaped: true }),
      tillkit("on PostgreSQL, handler", { store: "postgres", handler: true }),
    ],
  },
  {
    name: "lone-sqlite",
    title: "SQLite, one connection",
    says: "One webhook at a time: grouping must not make a lone one wait.",
    connections: 1,
    reference: "SQLite by hand",
    contenders: [
      byHand,
      tillkit("in memory", { store: "memory" }),
      tillkit("in memory, pre-shaped", { store: "memory", preShaped: true }),
      { name: "SQLite by hand", file: "naive-sqlite.mjs" },
      tillkit("on SQLite", { store: "sqlite" }),
    ],
  },
  {
    name: "lone-postgres",
    title: "PostgreSQL, one connection",
    says: "One webhook at a time: grouping must not make a lone one wait.",
    connections: 1,
    reference: "PostgreSQL by hand",
    contenders: [
      { name: "PostgreSQL by hand", file: "naive-postgres.mjs" },
      tillkit("on PostgreSQL", { store: "postgres" }),
    ],
  },
];
