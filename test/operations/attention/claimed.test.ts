import { type Payments, type PaymentStore } from "tillkit";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { onEachStore } from "./each-store.js";

const at = "2026-11-20T10:05:00.000Z";
const own = (clientId: string, createdAt: string) =>
  pendingPayment({ clientId, reference: `o-${clientId}`, serviceId: `s-${clientId}`, createdAt });
const [old, young] = [own("c-2", "2026-11-20T09:00:00.000Z"), own("c-1", "2026-11-20T09:30:00.000Z")];
const late = { ...own("c-3", at), state: "completed", open: false, withheld: "unsettled" } as const;
const ids = async (payments: Payments) =>
  (await payments.attention({ rule: "claimed" })).entries.map(({ id }) => id);

onEachStore("what customers claim", (bench) => {
  const claim = (payment: typeof old, number: string) => keepClaim(bench.store, payment, { number, at });
  beforeEach(() => bench.store.transaction((tx) => bench.store.save(tx, { created: [young, old, late] })));

  it("is listed first, with its numbers and the next step, until a completion comes", async () => {
    const payments = bench.shop();
    await claim(young, "MVK-1");
    await claim(old, "PP 71");
    await claim(old, "PP 82");
    const { entries } = await payments.attention();
    expect(entries.slice(0, 3)).toMatchObject([
      {
        id: "claimed:c-2",
        since: at,
        reference: "o-c-2",
        total: { value: "1475", currency: "KMF" },
        repeats: 2,
        why: "The customer says that the payment is paid, with the number PP 71 or PP 82. Nothing has confirmed the payment.",
        next: expect.stringMatching(
          /number in a statement[^]*\ntillkit resolve accept --client-id c-2 --by <name> --reason <why> --evidence/,
        ),
      },
      { id: "claimed:c-1" },
      { id: "paid_other_amount:c-3" },
    ]);
    expect((await payments.history("c-2")).attention).toMatchObject([{ id: "claimed:c-2", repeats: 2 }]);
    expect((await payments.health()).attention).toEqual({ claimed: 2, paid_other_amount: 1 });
    await payments.receiveWebhook(signed(completedBody({ clientId: "c-2", id: "s-c-2" })));
    expect(await ids(payments)).toEqual(["claimed:c-1"]);
    expect((await payments.health()).attention).toMatchObject({ claimed: 1 });
    const open = () => bench.store.notes({ kind: "claim_open" });
    expect(await open()).toHaveLength(2);
    await Promise.all([payments.sweep(), bench.shop().sweep()]);
    expect(await open()).toHaveLength(1);
    expect(await ids(payments)).toEqual(["claimed:c-1"]);
  });

  it("is open again where the customer gives another number while a person settles the one before", async () => {
    const payments = bench.shop();
    await claim(old, "PP 71");
    const settle = () =>
      payments.attend("claimed:c-2", { action: "settle", by: "Amina", reason: "no such number" });
    let settled: ReturnType<typeof settle> | undefined;
    const { store } = bench;
    const racing = {
      notes: store.notes.bind(store),
      save: store.save.bind(store),
      transaction: async (run: (tx: unknown) => Promise<unknown>) => {
        await (settled ??= settle());
        return store.transaction(run);
      },
    } as unknown as PaymentStore;
    await keepClaim(racing, old, { number: "PP 82", at: "2026-11-20T10:06:00.000Z" });
    expect((await settled)!.entry.settled?.evidence).toMatchObject({ claims: [{ number: "PP 71" }] });
    expect((await payments.attention({ rule: "claimed" })).entries).toMatchObject([
      { id: "claimed:c-2", why: expect.stringContaining("PP 71 or PP 82") },
    ]);
  });

  it("is settled by a person, and is open again when the customer gives another number", async () => {
    const payments = bench.shop();
    await claim(old, "PP 71");
    const settling = { action: "settle", by: "Amina", reason: "no such number" } as const;
    const { entry } = await payments.attend("claimed:c-2", settling);
    expect(entry.settled?.evidence).toMatchObject({ claims: [{ number: "PP 71" }] });
    await claim(old, "pp71");
    expect(await ids(payments)).toEqual([]);
    expect(await payments.attend("claimed:c-2", settling)).toMatchObject({ changed: false });
    const later = "2026-11-20T11:00:00.000Z";
    await keepClaim(bench.store, old, { number: "PP 82", at: later });
    expect((await payments.attention({ rule: "claimed" })).entries).toMatchObject([
      { id: "claimed:c-2", since: later, changes: [{ did: "settled" }] },
    ]);
    const said = (await payments.history("c-2")).entries.filter(({ kind }) => kind === "attention");
    expect(said).toMatchObject([{ rule: "claimed", did: "settled" }]);
  });
});
