/**
 * The commands for people that no other stage runs, with so little work that they only show that they start. Each of them ends
 * with 0 by itself. Two lists run at the same time: the second ones write only into folders of their own.
 */
export const starts = [
  // The first two copy the whole checkout.
  [
    {
      "npm run mutate": ["scripts/mutate.mjs", "--smoke"],
      "npm run faults:planted": ["scripts/planted-faults.mjs", "--only", "model/status-order", "--quiet"],
      "npm run tables": ["scripts/tables.mjs"],
      "npm run size": ["scripts/size.mjs", "--against", "HEAD", "--json"],
    },
    {
      "npm run simulate": ["scripts/simulate.mjs", "--payments", "300", "--quiet"],
      "npm run crash": ["scripts/crash.mjs", "--cycles", "10", "--seed", "7", "--quiet"],
      "npm run explore": ["scripts/explore.mjs", "--runs", "100", "--quiet"],
    },
  ],
  // Some of the first list build `dist` again.
  [
    {
      "npm start": ["scripts/test/start-shop.mjs"],
      "npm run bench": ["bench/run.mjs", "--smoke", "--quiet"],
      "node bench/scale.mjs": [
        "bench/scale.mjs",
        "creation",
        "--store",
        "memory",
        "--webhooks",
        "50",
        "--json",
        "--quiet",
      ],
      "node bench/attention.mjs": ["bench/attention.mjs", "--payments", "5000"],
      "node bench/profile.mjs": ["bench/profile.mjs", "--svg", ".tmp/flame.svg", "tillkit in memory", "500"],
      "node bench/stores.mjs": [
        "bench/stores.mjs",
        "--module",
        "test/stores/modules/file.ts",
        "--rounds",
        "1",
        "--webhooks",
        "5",
      ],
      "npm run fuzz": ["scripts/fuzz.mjs", "--count", "2000", "--http", "100", "--quiet"],
    },
    {
      "npm run release": ["scripts/release.mjs", "--rehearse"],
      "npm run docs": ["scripts/docs.mjs", "--if-installed"],
      "npm run statement:million": ["scripts/statement-million.mjs", "--rows", "2000", "--once", "--quiet"],
      "npm run upgrade:million": ["scripts/upgrade-million.mjs", "--payments", "2000", "--quiet"],
    },
  ],
];

/** The one that nothing may run beside. */
export const matrix = ["scripts/matrix.mjs", "--quick"];

/** The scripts of package.json that other stages run, or tests. */
export const startedElsewhere = [
  "npm test",
  "npm run test:all",
  "npm run demo",
  "npm run build",
  "npm run prepack",
  "npm run typecheck",
  "npm run lint",
  "npm run format",
  "npm run format:check",
  "npm run jest",
  "npm run check:package",
  "npm run matrix",
  "npm run docs:evaluate",
  "node scripts/pack.mjs",
];
