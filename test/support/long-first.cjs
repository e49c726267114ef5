// Starts the long tests first, so that at the end no worker is left alone with one of them. Jest does so by itself only where its
// cache has an earlier run, which a fresh clone has not.
const Sequencer = require("@jest/test-sequencer").default;

module.exports = class extends Sequencer {
  async sort(tests) {
    const { firstTests } = await import("../../scripts/test/long.mjs");
    // oxlint-disable-next-line unicorn/no-array-sort -- It is not the method of an array.
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const isFirst = ({ path }) => firstTests.some((pattern) => new RegExp(pattern).test(path));
    return [...sorted.filter(isFirst), ...sorted.filter((test) => !isFirst(test))];
  }
};
