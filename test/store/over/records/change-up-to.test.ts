import { changeUpTo } from "../../../../src/store/over/records/change-up-to.js";

it("no more than the limit is changed, although another process changed an entry that was found", async () => {
  const left = ["theirs", "a", "b", "c"];
  const asked: number[] = [];
  const find = async (limit: number) => {
    asked.push(limit);
    return left.slice(0, limit);
  };
  const change = async (entry: string) => {
    left.splice(left.indexOf(entry), 1);
    return entry === "theirs" ? 0 : 1;
  };
  expect(await changeUpTo(2, find, change)).toBe(2);
  expect([left, asked]).toEqual([["c"], [2, 1]]);
});
