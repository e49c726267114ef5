import { type Claim } from "../../../src/store/index.js";
import { claimDue, type ClaimSteps } from "../../../src/store/sql/tables/dispatches.js";

const everything = { unexpanded: true, due: true };

/** Steps over so many due dispatches and so many that wait to be expanded; what was called is written down. */
function steps(due: number, unexpanded: number, commitApart = true) {
  const called: string[] = [];
  let waiting = due;
  const some: ClaimSteps = {
    async take(limit) {
      called.push(`take ${limit}`);
      const taken = Math.min(limit, waiting);
      waiting -= taken;
      return Array.from({ length: taken }, () => ({}) as Claim);
    },
    async expand() {
      called.push("expand");
      waiting += unexpanded;
      return unexpanded;
    },
    commitApart,
  };
  return { some, called };
}

describe("a claim", () => {
  it("that is filled by what is due expands nothing: new events are younger", async () => {
    const { some, called } = steps(10, 5);
    expect(await claimDue(some, everything, 8)).toHaveLength(8);
    expect(called).toEqual(["take 8"]);
  });

  it("with room left expands new events, and takes of them what there is room for", async () => {
    const { some, called } = steps(3, 20);
    expect(await claimDue(some, everything, 8)).toHaveLength(8);
    expect(called).toEqual(["take 8", "expand", "take 5"]);
  });

  it("does not look for what was not seen", async () => {
    const nothingDue = steps(0, 2);
    expect(await claimDue(nothingDue.some, { unexpanded: true, due: false }, 8)).toHaveLength(2);
    expect(nothingDue.called).toEqual(["expand", "take 8"]);
    const nothingNew = steps(2, 0);
    expect(await claimDue(nothingNew.some, { unexpanded: false, due: true }, 8)).toHaveLength(2);
    expect(nothingNew.called).toEqual(["take 8"]);
  });

  it("keeps what it has leased when a later step fails, and each step commits by itself", async () => {
    const { some } = steps(3, 5);
    some.expand = () => Promise.reject(new Error("the lock was not free in time"));
    expect(await claimDue(some, everything, 8)).toHaveLength(3);
  });

  it("rejects where nothing was leased, or the failure takes all of it back", async () => {
    for (const { some } of [steps(0, 5), steps(3, 5, false)]) {
      some.expand = () => Promise.reject(new Error("the lock was not free in time"));
      await expect(claimDue(some, everything, 8)).rejects.toThrow("not free in time");
    }
  });
});
