// Lets the runner of the mutation tests load the tests of jest: it keeps the sources loaded, so that a mutant costs only the time
// of its tests. It stands in for the interface "bdd" of mocha, because Stryker accepts no other name.
const { readFileSync } = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const { transformSync } = require("@swc/core");
const { expect } = require("expect");
const { ModernFakeTimers } = require("@jest/fake-timers");
const { bind } = require("jest-each");
const { ModuleMocker } = require("jest-mock");
const Mocha = require("mocha");
const common = require("mocha/lib/interfaces/common");
const jestConfig = require("../../jest.config.cjs");

const root = process.cwd();
const [, swcOptions] = jestConfig.transform["^.+\\.ts$"];
const mapped = Object.entries(jestConfig.moduleNameMapper).map(([from, to]) => [
  new RegExp(from),
  to.replace("<rootDir>", root),
]);

require.extensions[".ts"] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, "utf8"), { ...swcOptions, filename });
  module._compile(code, filename);
};

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  const isOfTests = parent?.filename?.endsWith(".ts");
  const [from, to] = (isOfTests && mapped.find(([pattern]) => pattern.test(request))) || [];
  return resolve.call(this, from ? request.replace(from, to) : request, parent, ...rest);
};

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  setTimeout() {},
  useFakeTimers: (options) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
  getTimerCount: () => timers.getTimerCount(),
  setSystemTime: (now) => timers.setSystemTime(now),
};

/** The functions of jest. Each file is a suite of its own, so that its hooks run for its tests only. */
Mocha.interfaces.bdd = (top) => {
  const suites = [top];
  top.on("pre-require", (context, file, mocha) => {
    const { before, after, beforeEach, afterEach, suite } = common(suites, context, mocha);
    suites.unshift(Mocha.Suite.create(top, path.relative(root, file)));
    // A mutant that hangs fails its test sooner than Stryker would end the process.
    suites[0].timeout(12_000);
    const it = (title, run) => {
      const test = new Mocha.Test(title, run);
      test.file = file;
      suites[0].addTest(test);
      return test;
    };
    it.skip = (title) => it(title);
    const describe = (title, fn) => suite.create({ title, file, fn });
    describe.skip = (title, fn) => suite.skip({ title, file, fn });
    it.each = bind(it);
    describe.each = bind(describe);
    // It may compile the sources.
    const beforeAll = (run) =>
      before(function () {
        this.timeout(60_000);
        return run();
      });
    Object.assign(context, {
      beforeAll,
      afterAll: after,
      beforeEach,
      afterEach,
      it,
      test: it,
      describe,
      expect,
      jest,
    });
  });
  top.on("post-require", () => suites.shift());
};
