import { needCounts, needsIn } from "../../../src/store/rules/needs.js";
import { at } from "../../../src/store/exam/checks/fixtures.js";

describe("the counts of what a person has to see", () => {
  it("leave out what is not there, and go up to ten thousand", () => {
    const counted = [
      ["overdue", 0],
      ["unmatched", 10_000],
      ["mismatched", 10_001],
    ] as const;
    expect(needsIn(counted)).toEqual({ needs: { unmatched: 10_000, mismatched: 10_000 } });
    expect(needsIn([["unmatched", 0]])).toEqual({});
  });

  it("leave out what is not older than the given time of its need", () => {
    const found = [
      ["unmatched", at(1)],
      ["unmatched", at(2)],
      ["mismatched", at(3)],
      [undefined, at(1)],
    ] as const;
    expect(needCounts(found, { before: { unmatched: at(2) } })).toEqual({
      needs: { unmatched: 1, mismatched: 1 },
    });
  });
});
