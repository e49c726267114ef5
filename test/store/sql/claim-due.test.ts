import { type Claim } from "../../../src/store/index.js";
import { claimDue, type ClaimSteps } from "../../../src/store/sql/tables/dispatches.js";

const everything = { unexpanded: true, due: true };

/** Returns steps over so many due dispatches and so many events to expand, and the list of the calls. */
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
  it("expands nothing when due dispatches fill it: new events are younger", async () => {
    const { some, called } = steps(10, 5);
    expect(await claimDue(some, everything, 8)).toHaveLength(8);
    expect(called).toEqual(["take 8"]);
  });

  it("expands new events when due dispatches do not fill it, and takes as many as the limit allows", async () => {
    const { some, called } = steps(3, 20);
    expect(await claimDue(some, everything, 8)).toHaveLength(8);
    expect(called).toEqual(["take 8", "expand", "take 5"]);
  });

  it("skips the steps for which nothing was found", async () => {
    const nothingDue = steps(0, 2);
    expect(await claimDue(nothingDue.some, { unexpanded: true, due: false }, 8)).toHaveLength(2);
    expect(nothingDue.called).toEqual(["expand", "take 8"]);
    const nothingNew = steps(2, 0);
    expect(await claimDue(nothingNew.some, { unexpanded: false, due: true }, 8)).toHaveLength(2);
    expect(nothingNew.called).toEqual(["take 8"]);
  });

  it("keeps what it has leased when a later step fails, if each step commits by itself", async () => {
    const { some } = steps(3, 5);
    some.expand = () => Promise.reject(new Error("the lock was not free in time"));
    expect(await claimDue(some, everything, 8)).toHaveLength(3);
  });

  it("rejects where nothing was leased, or the failure rolls everything back", async () => {
    for (const { some } of [steps(0, 5), steps(3, 5, false)]) {
      some.expand = () => Promise.reject(new Error("the lock was not free in time"));
      await expect(claimDue(some, everything, 8)).rejects.toThrow("not free in time");
    }
  });
});
