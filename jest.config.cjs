const { availableParallelism } = require("node:os");

// One suite for the sources and for the packed package: TILLKIT_TEST_TARGET=packed runs the same tests on what scripts/pack.mjs
// unpacked.
const targets = { src: ["src", "ts"], packed: [".tmp/package/dist/cjs", "js"] };
const [folder, extension] = targets[process.env.TILLKIT_TEST_TARGET ?? "src"];
const at = (path) => `<rootDir>/${folder}/${path}.${extension}`;

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: "node",
  // Two busy cores make a test of a second one of ten; what hangs is still ended.
  testTimeout: 180_000,
  // Much of the suite waits for databases, browsers and other processes; as many workers as cores would leave them idle.
  maxWorkers: availableParallelism() * 2,
  // Jest keeps some of the memory of every file. Without a limit a worker grows to 4 GB over the whole suite, and crashes there.
  workerIdleMemoryLimit: "1GB",
  testSequencer: "<rootDir>/test/support/long-first.cjs",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  globalSetup: "<rootDir>/test/support/global-setup.cjs",
  globalTeardown: "<rootDir>/test/support/global-teardown.cjs",
  moduleNameMapper: {
    "^tillkit$": at("index"),
    "^tillkit/sql$": at("store/sql/index"),
    "^tillkit/statement$": at("statement/index"),
    "^tillkit/sandbox$": at("sandbox/index"),
    "^tillkit/testing$": at("testing/index"),
    "^(\\.{1,2}/.*)\\.js$": "$1",
  },
  modulePathIgnorePatterns: ["<rootDir>/dist/.*/package.json", "<rootDir>/.tmp/"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        sourceMaps: "inline",
        jsc: { target: "es2022", parser: { syntax: "typescript" } },
        module: { type: "commonjs" },
      },
    ],
  },
};
