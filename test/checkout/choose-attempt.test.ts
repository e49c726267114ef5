import { chooseAttempt, replacedPayment } from "../../src/checkout/choose-attempt.js";
import { pendingPayment } from "../support/webhooks.js";

const times = { now: new Date("2026-11-20T10:00:00.000Z"), reuseForMs: 15 * 60_000, creationMs: 15_000 };
const total = { value: "1475", currency: "KMF" };
const { checkoutUrl, ...creating } = pendingPayment({
  state: "creating",
  createdAt: "2026-11-20T09:59:50.000Z",
});

describe("choosing an attempt for a reference", () => {
  it("creates the first one", () => {
    expect(chooseAttempt([], total, times)).toEqual({ kind: "create", replaced: [] });
  });

  it("returns the open attempt again, also for an amount in another spelling", () => {
    const open = pendingPayment();
    const choice = chooseAttempt([open], { value: "1475.00", currency: "KMF" }, times);
    expect(choice).toEqual({ kind: "reuse", payment: open, checkoutUrl });
  });

  it("waits for an attempt that another call is creating", () => {
    expect(chooseAttempt([creating], total, times)).toEqual({ kind: "wait", payment: creating });
  });

  it("replaces a creation that a crash ended", () => {
    const cut = { ...creating, createdAt: "2026-11-20T09:59:00.000Z" };
    expect(chooseAttempt([cut], total, times)).toEqual({ kind: "create", replaced: [cut] });
    expect(replacedPayment(cut, "c-2", "now")).toMatchObject({
      state: "uncertain",
      open: false,
      replacedBy: "c-2",
    });
  });

  it.each([
    ["of another amount", pendingPayment({ total: { value: "1500", currency: "KMF" } })],
    ["of another currency", pendingPayment({ total: { value: "1475", currency: "EUR" } })],
    ["that is too old", pendingPayment({ createdAt: "2026-11-20T09:40:00.000Z" })],
    ["that a clock far ahead has dated", pendingPayment({ createdAt: "2026-11-20T11:00:00.000Z" })],
    [
      "that was canceled in the browser",
      pendingPayment({ open: false, cancelReturnedAt: "2026-11-20T09:59:30.000Z" }),
    ],
    ["that failed", pendingPayment({ open: false, state: "failed" })],
    ["that nobody knows the fate of", pendingPayment({ open: false, state: "uncertain" })],
  ])("takes the place of an attempt %s", (_, old) => {
    expect(chooseAttempt([old], total, times)).toEqual({ kind: "create", replaced: [old] });
  });

  it.each([
    ["waits for a creation", creating, times.creationMs - 1, "wait"],
    ["waits no longer for a creation", creating, times.creationMs, "create"],
    ["returns an attempt again", pendingPayment(), times.reuseForMs - 1, "reuse"],
    ["returns an attempt no longer", pendingPayment(), times.reuseForMs, "create"],
  ])("%s at the limit of its age", (_, attempt, age, kind) => {
    const createdAt = new Date(times.now.getTime() - age).toISOString();
    expect(chooseAttempt([{ ...attempt, createdAt }], total, times)).toMatchObject({ kind });
  });

  it.each(["pending", "uncertain", "failed", "canceled"] as const)(
    "leaves the state %s to an attempt that is replaced",
    (state) => {
      expect(replacedPayment(pendingPayment({ state }), "c-2", "now")).toEqual(
        pendingPayment({ state, open: false, replacedBy: "c-2", updatedAt: "now" }),
      );
    },
  );

  it("leaves an attempt that was replaced before as it is", () => {
    const before = pendingPayment({ clientId: "c-0", open: false, replacedBy: "c-1" });
    const failed = pendingPayment({ open: false, state: "failed" });
    expect(chooseAttempt([before, failed], total, times)).toEqual({ kind: "create", replaced: [failed] });
  });

  it("refuses a reference that is paid, whatever else it has", () => {
    const paid = pendingPayment({ clientId: "c-0", state: "completed", open: false });
    expect(chooseAttempt([pendingPayment(), paid], total, times)).toEqual({ kind: "paid", payment: paid });
  });
});
