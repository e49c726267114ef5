import {
  type AttentionAction,
  type AttentionEntry,
  attentionRules,
  type Payment,
  type Payments,
} from "tillkit";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";
import { onEachStore } from "./each-store.js";

const paid = { state: "completed", status: "completed", open: false } as const;
const late = (over: Partial<Payment> = {}) => pendingPayment({ ...paid, attention: "paid_late", ...over });
const id = "paid_late:c-1";
/** The rules about what is in the store. A server for tests may not sync, which its health says. */
const stored = attentionRules.filter((rule) => rule !== "health");
const inAnHour = () => new Date(Date.now() + 3_600_000);

onEachDatabase("what people do about what needs them", (kind) => {
  const bench = shopBench(kind);
  const one = async (payments: Payments, query = {}): Promise<AttentionEntry | undefined> =>
    (await payments.attention({ rule: stored, ...query })).entries[0];

  it("is kept at the entry and in the history of the payment: who, when, why, before and after", async () => {
    const payments = bench.shop();
    await bench.seed(late());
    await payments.attend(id, { action: "assign", by: "Amina" });
    await payments.attend(id, { action: "note", by: "Said", reason: "the customer called" });
    const { version } = (await one(payments))!;
    const { entry } = await payments.attend(id, { action: "assign", to: "Said", by: "Amina", version });
    expect(entry).toMatchObject({ assigned: "Said", version: 3 });
    expect(await one(payments, { assigned: "Said" })).toMatchObject({ id, assigned: "Said" });
    expect(await one(payments, { assigned: "Amina" })).toBeUndefined();
    expect(await one(payments, { assigned: null })).toBeUndefined();
    const history = await payments.history("c-1");
    const at = expect.any(String) as string;
    expect(history.entries.filter(({ kind }) => kind === "attention")).toEqual([
      { kind: "attention", rule: "paid_late", did: "assigned", by: "Amina", after: "Amina", at, text: at },
      {
        kind: "attention",
        rule: "paid_late",
        did: "noted",
        by: "Said",
        reason: "the customer called",
        at,
        text: at,
      },
      {
        kind: "attention",
        rule: "paid_late",
        did: "assigned",
        by: "Amina",
        before: "Amina",
        after: "Said",
        at,
        text: at,
      },
    ]);
  });

  it("hides a snoozed entry until its time, and lists it again then", async () => {
    let ahead = 0;
    const payments = bench.shop({ now: () => new Date(Date.now() + ahead) });
    await bench.seed(late());
    const until = inAnHour();
    await payments.attend(id, { action: "snooze", until, by: "Amina", reason: "calls back" });
    expect(await one(payments)).toBeUndefined();
    expect(await one(payments, { snoozed: true })).toMatchObject({ snoozedUntil: until.toISOString() });
    ahead = 3_600_001;
    expect(await one(payments)).toMatchObject({ id, version: 1 });
    expect(await one(payments)).not.toHaveProperty("snoozedUntil");
  });

  it("lists a fact that came back although the one before it is snoozed, and reminds of it in its own time", async () => {
    let ahead = 0;
    const payments = bench.shop({ now: () => new Date(Date.now() + ahead), attentionReminderMs: 86_400_000 });
    payments.on("attention.reminder", () => {}, { name: "chat" });
    await bench.seed(pendingPayment());
    const differs = (value: string) =>
      payments.receiveWebhook(signed(completedBody({ total: { value, currency: "KMF" } })));
    // Not the reasons of health: a database for tests may sync nothing, which is one of them.
    const rule = ["mismatched", "overdue"] as const;
    const ids = async () => (await payments.attention({ rule })).entries.map((entry) => entry.id);
    const { receiptId } = await differs("5");
    const until = new Date(Date.now() + 30 * 86_400_000);
    const why = { by: "Amina", reason: "the service answers later" };
    await payments.attend("mismatched:c-1", { action: "snooze", until, ...why });
    expect(await ids()).toEqual([]);
    await payments.resolve({ action: "dismiss", receiptId, ...why });
    ahead = 60_000;
    await differs("147");
    expect(await ids()).toEqual(["mismatched:c-1"]);
    await payments.sweep();
    ahead = 2 * 86_400_000;
    await payments.sweep();
    expect(await bench.recorded()).toContain("attention.reminder");
    await payments.attend("mismatched:c-1", { action: "snooze", until, ...why });
    expect(await ids()).toEqual(["overdue:c-1"]);
  });

  it("settles a payment, with what the store knew at that moment, and its fact is gone", async () => {
    const payments = bench.shop();
    await bench.seed(
      late(),
      pendingPayment({
        clientId: "c-2",
        reference: "o-2",
        serviceId: "s-2",
        overdueAt: "2026-11-20T11:00:00.000Z",
      }),
    );
    const settling = { action: "settle", by: "Amina", reason: "delivered", document: "receipt 7" } as const;
    const { entry, changed } = await payments.attend(id, settling);
    expect(changed).toBe(true);
    expect(entry.settled).toMatchObject({ by: "Amina", reason: "delivered", document: "receipt 7" });
    expect(entry.settled?.evidence).toMatchObject({ payment: { clientId: "c-1", attention: "paid_late" } });
    expect(await payments.find("c-1")).not.toHaveProperty("attention");
    await payments.attend("overdue:c-2", settling);
    expect(await payments.find("c-2")).toMatchObject({ attention: "settled" });
    expect((await payments.attention({ rule: stored, settled: true })).entries).toEqual([]);
    expect((await payments.health()).attention).toBeUndefined();
  });

  it("settles all webhooks of an entry as dismissed, also one that names no payment", async () => {
    const payments = bench.shop();
    await bench.save({
      created: [pendingPayment()],
      webhooks: [
        webhook("m", { outcome: "mismatch", clientId: "c-1", reason: "amount" }),
        webhook("n", { outcome: "mismatch", clientId: "c-1", reason: "id" }),
        webhook("i", { outcome: "inadmissible", reason: "no id" }),
      ],
    });
    const settling = { action: "settle", by: "Amina", reason: "a test of the service" } as const;
    await payments.attend("mismatched:c-1", settling);
    await payments.attend("inadmissible:receipt-of-i", settling);
    expect((await payments.attention({ rule: stored })).entries).toEqual([]);
    expect(await bench.recorded()).toEqual(["payment.resolved", "payment.resolved"]);
    const kinds = (await payments.history("c-1")).entries.map((each) => each.kind);
    expect(kinds).toEqual(expect.arrayContaining(["resolution", "attention"]));
    const { resolutions } = await bench.place.store.history("c-1");
    expect(resolutions).toMatchObject([
      { action: "dismissed", receiptId: "receipt-of-m", by: "Amina" },
      { action: "dismissed", receiptId: "receipt-of-n", by: "Amina" },
    ]);
  });

  it("does nothing more for the same call or the same key, and says so", async () => {
    const payments = bench.shop();
    await bench.seed(late());
    const noting: AttentionAction = { action: "note", by: "Amina", reason: "called", key: "click-1" };
    expect(await payments.attend(id, noting)).toMatchObject({ changed: true, entry: { version: 1 } });
    await payments.attend(id, { action: "assign", by: "Said" });
    expect(await payments.attend(id, noting)).toMatchObject({ changed: false, entry: { version: 2 } });
    const settling = { action: "settle", by: "Amina", reason: "delivered" } as const;
    expect(await payments.attend(id, settling)).toMatchObject({ changed: true });
    const again = await payments.attend(id, settling);
    expect(again).toMatchObject({ changed: false, entry: { rule: "paid_late", settled: { by: "Amina" } } });
    await expect(payments.attend(id, { ...settling, by: "Said" })).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("is closed"),
    });
  });

  it("settles a fact that came back, also by the same person for the same reason", async () => {
    let ahead = 0;
    const payments = bench.shop({ now: () => new Date(Date.parse("2026-11-20T12:00:00.000Z") + ahead) });
    const settling = { action: "settle", by: "Amina", reason: "known" } as const;
    const overdueAt = "2026-11-20T11:00:00.000Z";
    await bench.seed(pendingPayment({ overdueAt }));
    expect(await payments.attend("overdue:c-1", settling)).toMatchObject({ changed: true });
    const { attention: _, ...payment } = (await payments.find("c-1"))!;
    ahead = 7_200_000;
    await bench.save({ updated: [{ ...payment, overdueAt: "2026-11-20T13:00:00.000Z" }] });
    expect(await one(payments)).toMatchObject({ id: "overdue:c-1" });
    expect(await payments.attend("overdue:c-1", settling)).toMatchObject({ changed: true });
    expect(await one(payments)).toBeUndefined();
  });

  it.each(["1", -1, 1.5, NaN])("refuses %p as a version", async (version) => {
    await bench.seed(late());
    const action = { action: "note", by: "Amina", reason: "called", version } as AttentionAction;
    await expect(bench.shop().attend(id, action)).rejects.toMatchObject({
      code: "resolution_invalid",
      message: expect.stringContaining("version must be the whole number"),
    });
  });

  it("refuses what another person was faster with, and says what that person did", async () => {
    const [first, second] = [bench.shop(), bench.shop()];
    await bench.seed(late());
    const seen = (await one(first))!.version;
    await first.attend(id, { action: "assign", by: "Amina", version: seen });
    const overtaken = {
      code: "store_conflict",
      message: expect.stringMatching(/^Nothing was done, because Amina assigned the entry \(Amina\) at /),
      fix: expect.stringContaining("version, which is now 1"),
    };
    await expect(
      second.attend(id, { action: "settle", by: "Said", reason: "mine", version: seen }),
    ).rejects.toMatchObject(overtaken);
    await expect(second.attend(id, { action: "assign", by: "Said" })).rejects.toMatchObject(overtaken);
    await second.attend(id, { action: "assign", by: "Said", version: 1 });
    expect(await one(first)).toMatchObject({ assigned: "Said" });
  });

  it("settles no unmatched webhook that becomes a mismatch in this moment, when its payment is adopted", async () => {
    const [mine, other] = [bench.shop({ now: inAnHour }), bench.shop()];
    await other.receiveWebhook(signed(completedBody()));
    const { store } = mine;
    const transaction = jest.spyOn(store, "transaction").mockImplementationOnce(async (run) => {
      await other.adopt({
        clientId: "c-1",
        reference: "order-1",
        total: { value: "2000", currency: "KMF" },
      });
      return store.transaction(run);
    });
    const settle = mine.attend("unmatched:c-1", { action: "settle", by: "Amina", reason: "not ours" });
    await expect(settle).rejects.toMatchObject({ code: "store_conflict" });
    transaction.mockRestore();
    expect(await one(mine)).toMatchObject({ id: "mismatched:c-1" });
  });

  it("lets one of several people do it who act at the same moment", async () => {
    const shops = [bench.shop(), bench.shop(), bench.shop()];
    await bench.seed(late());
    await one(shops[0]!);
    const answers = await Promise.allSettled(
      shops.map((payments, n) =>
        payments.attend(id, { action: "settle", by: `person ${n}`, reason: "mine" }),
      ),
    );
    const refused = answers.flatMap((each) =>
      each.status === "rejected" ? [each.reason as { code: string; message: string }] : [],
    );
    expect(refused).toHaveLength(2);
    for (const { code, message } of refused)
      expect([code, message].join(" ")).toMatch(
        /store_conflict .*person \d settled the entry|resolution_not_possible .*closed/,
      );
    const history = await shops[0]!.history("c-1");
    expect(history.entries.filter((each) => each.kind === "attention")).toHaveLength(1);
  });
});

describe("an action about what needs a person", () => {
  const bench = shopBench("sqlite");
  const why = { by: "Amina", reason: "looked" };
  it.each([
    ["late:c-1", { action: "note", ...why }, "resolution_invalid"],
    [id, { action: "close", ...why }, "resolution_invalid"],
    [id, { action: "note", by: "Amina" }, "resolution_invalid"],
    [id, { action: "note", by: " ", reason: "x" }, "resolution_invalid"],
    [id, { action: "snooze", ...why }, "resolution_invalid"],
    [id, { action: "snooze", ...why, until: new Date(0) }, "resolution_invalid"],
    [id, { action: "note", ...why, to: "Said" }, "resolution_invalid"],
    [id, { action: "note", ...why, colour: "red" }, "resolution_invalid"],
    ["paid_late:nobody", { action: "note", ...why }, "resolution_not_possible"],
    ["paid_other_amount:c-2", { action: "settle", ...why }, "resolution_not_possible"],
  ] as const)("is refused for %s with %j", async (about, action, code) => {
    const payments = bench.shop();
    await bench.seed(
      late(),
      pendingPayment({ clientId: "c-2", reference: "o-2", serviceId: "s-2", ...paid, withheld: "unsettled" }),
    );
    await expect(payments.attend(about, action as AttentionAction)).rejects.toMatchObject({ code });
    const { entries } = await payments.attention();
    expect(entries.map(({ version }) => version)).toEqual([0, 0]);
  });
});

onEachStore("what people do about dead dispatches", (bench) => {
  it("refuses to settle again what another person has settled, where its cause is still there", async () => {
    const payments = bench.shop({ dispatch: { maxFailures: 1, pollMs: 10 } });
    payments.onPaymentCompleted(() => Promise.reject(new Error("no paper")), { name: "printer" });
    await bench.store.transaction((tx) => bench.store.save(tx, { created: [pendingPayment()] }));
    const died = new Promise((resolve) => payments.on("dispatch.dead", resolve));
    await payments.start();
    await payments.receiveWebhook(signed(completedBody()));
    await died;
    const dead = (await payments.attention({ rule: "dead_dispatch" })).entries[0]!.id;
    await payments.attend(dead, { action: "settle", by: "Amina", reason: "printed by hand" });
    const again = payments.attend(dead, { action: "settle", by: "Said", reason: "not needed" });
    await expect(again).rejects.toMatchObject({
      code: "store_conflict",
      message: expect.stringContaining("because Amina settled the entry"),
    });
    const [entry] = (await payments.attention({ rule: "dead_dispatch", settled: true })).entries;
    expect(entry).toMatchObject({ settled: { by: "Amina", reason: "printed by hand" } });
  });
});
