import { capturedFor, isFarther, isKnownStatus, stateOf } from "../../src/model/status-order.js";
import { fc } from "../support/property.js";

const inOrder = ["init", "pending", "submitted", "approved", "captured", "failed", "canceled", "completed"];
/** Names of members that every plain object has. */
const members = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "__defineGetter__"];

describe("the order of statuses", () => {
  it("replaces a status only by one that comes later", () => {
    for (const [index, current] of inOrder.entries())
      for (const [other, next] of inOrder.entries())
        expect([current, next, isFarther(next, current)]).toEqual([current, next, other > index]);
  });

  it("takes any status where the payment has none", () => {
    for (const next of [...inOrder, ...members, "under_review"])
      expect(isFarther(next, undefined)).toBe(true);
  });

  it.each([...members, "under_review"])(
    "ranks the unknown status %s between pending and submitted",
    (status) => {
      expect(isFarther(status, "pending")).toBe(true);
      expect(isFarther("pending", status)).toBe(false);
      expect(isFarther("submitted", status)).toBe(true);
      expect(isFarther(status, "submitted")).toBe(false);
    },
  );

  it("is a total order, so that webhooks in any order lead to one status", () => {
    const status = fc.oneof(fc.constantFrom(...inOrder, ...members), fc.string());
    fc.assert(
      fc.property(status, status, status, (a, b, c) => {
        expect(isFarther(a, a)).toBe(false);
        expect(isFarther(a, b)).toBe(a !== b && !isFarther(b, a));
        const isChain = isFarther(b, a) && isFarther(c, b);
        expect(isChain && !isFarther(c, a)).toBe(false);
      }),
    );
  });
});

describe("a status", () => {
  it("is known if the interface or a service uses it, and not because every object has such a member", () => {
    expect(inOrder.filter((status) => !isKnownStatus(status))).toEqual([]);
    expect([...members, "", "Completed", "under_review"].filter(isKnownStatus)).toEqual([]);
  });

  it("ends a payment only where it is completed, failed or canceled", () => {
    const ended = ["completed", "failed", "canceled"];
    expect(ended.map(stateOf)).toEqual(ended);
    const others = [...inOrder, ...members, "under_review", ""].filter((status) => !ended.includes(status));
    expect(new Set(others.map(stateOf))).toEqual(new Set(["pending"]));
  });

  it("has two names where services use two", () => {
    expect(["expired", "cancelled"].map(stateOf)).toEqual(["failed", "canceled"]);
  });

  it("says whether the money was captured, except where the kit does not know the status", () => {
    const captured = inOrder.filter((status) => capturedFor(status));
    expect(captured).toEqual(["captured", "completed"]);
    const uncaptured = inOrder.filter((status) => capturedFor(status) === false);
    expect(uncaptured).toEqual(inOrder.filter((status) => !captured.includes(status)));
    expect([...members, "under_review"].map(capturedFor)).toEqual(Array(members.length + 1).fill(undefined));
  });
});
