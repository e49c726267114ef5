import { type Payment, storeOver } from "tillkit";
import { at, payment } from "../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { memoryAdapter } from "../memory-adapter.js";

describe("what another process has changed after the index of payments was read", () => {
  const due = payment("p1", { createdAt: at(1), nextLookupAt: at(2) });

  /** Returns a store that finds the payment, whose fields then change before it is read. */
  async function openLate(fields: Partial<Payment>) {
    const adapter = memoryAdapter();
    const store = storeOver(adapter);
    await saved(store, { created: [due] });
    return storeOver({
      ...adapter,
      async scan(range, tx) {
        const found = await adapter.scan(range, tx);
        await saved(store, { updated: [{ ...due, ...fields }] });
        return found;
      },
    });
  }

  it("is not raised as overdue a second time", async () => {
    const page = { before: at(9), limit: 10 };
    expect(await (await openLate({})).due(page)).toEqual([due]);
    expect(await (await openLate({ overdueAt: at(5) })).due(page)).toEqual([]);
  });

  it("is not looked up before its new time", async () => {
    const page = { before: at(9), limit: 10 };
    expect(await (await openLate({})).lookupDue(page)).toEqual([due]);
    expect(await (await openLate({ nextLookupAt: at(9) })).lookupDue(page)).toEqual([]);
  });

  it("is not listed among those of its earlier state", async () => {
    const page = { state: "pending", newestFirst: false, limit: 10 } as const;
    expect(await (await openLate({ state: "canceled", open: false })).list(page)).toEqual([]);
  });
});
