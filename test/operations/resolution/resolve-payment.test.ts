import { type Evidence, fieldsSignature, type ResolutionRecord, type TillkitEvent } from "tillkit";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { hasCode } from "../../../src/errors/index.js";
import { closeAll, scheme as wholeBody, secret, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

const row: Evidence = {
  kind: "statement",
  document: "statement-2026-11.csv, line 14",
  total: { value: "1475.00", currency: "KMF" },
  serviceId: "64f0c0ffee64f0c0ffee64f0",
  providerId: "MVK-778",
};
const why = { reason: "the till was wrong", by: "Amina" };
const byFields = fieldsSignature({ secret, merchantId: "m-1" });

/** Another payment of the same order, which was completed before. */
const paidBefore = pendingPayment({
  clientId: "c-0",
  serviceId: "s-0",
  state: "completed",
  status: "completed",
  open: false,
});

onEachDatabase("resolutions", (kind) => {
  const bench = shopBench(kind);
  const { shop, seed } = bench;
  const events = async (): Promise<TillkitEvent[]> =>
    (
      await bench.place.select<{ type: string; payload: string }>(
        "select type, payload from @events order by seq",
      )
    ).map(({ type, payload }) => ({ ...(JSON.parse(payload) as object), type }) as TillkitEvent);
  const types = async () => (await events()).map(({ type }) => type);
  const short = { total: { value: "1470", currency: "KMF" } };

  it("accept a mismatch as completed, with all events of a completion", async () => {
    const payments = shop();
    await seed(pendingPayment());
    const { receiptId } = await payments.receiveWebhook(signed(completedBody(short)));
    const { resolution, resolved, payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(resolved).toBe(true);
    const change = { before: "pending", after: "completed" };
    expect(resolution).toMatchObject({ action: "accepted", clientId: "c-1", receiptId, ...change, ...why });
    expect(payment).toMatchObject({ state: "completed", total: { value: "1475" }, open: false });
    expect(payment).not.toHaveProperty("nextLookupAt");
    expect(await types()).toEqual(["payment.mismatched", "payment.completed", "payment.resolved"]);
    const [, completed, told] = await events();
    expect(completed).toMatchObject({ verified: { "total.value": "1470" }, reportedBy: "webhook" });
    expect(told).toMatchObject({ action: "accepted", receiptId, ...why, payment: { state: "completed" } });
    const { webhooks, resolutions } = await bench.place.store.history("c-1");
    expect(webhooks).toMatchObject([{ outcome: "mismatch" }]);
    expect(resolutions).toEqual([resolution]);
  });

  it("are found again behind a thousand newer ones, with the number that they accepted", async () => {
    const payments = shop();
    await seed(pendingPayment(), pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" }));
    const accept = { action: "accept", clientId: "c-1", evidence: row, ...why } as const;
    await payments.resolve(accept);
    const refund = { action: "refunded", clientId: "c-1", amount: "475", key: "transfer 1", ...why } as const;
    const { resolution } = await payments.resolve(refund);
    const at = new Date(Date.now() + 60_000).toISOString();
    const newer = Array.from({ length: 1002 }, (_, n): ResolutionRecord => {
      const id = `replayed:r-${n}:${n}`;
      return { id, clientId: "c-1", action: "replayed", before: "stale", after: "applied", at, ...why };
    });
    for (let n = 0; n < newer.length; n += 100) await bench.save({ resolutions: newer.slice(n, n + 100) });
    expect(await payments.resolve(refund)).toMatchObject({ resolved: false, resolution });
    expect(await payments.find("c-1")).toMatchObject({ refunded: "475" });
    const { serviceId: _, ...again } = row;
    await expect(payments.resolve({ ...accept, clientId: "c-2", evidence: again })).rejects.toMatchObject({
      code: "evidence_mismatch",
    });
  });

  it("return with dryRun the payment as it would be stored, with the amount that was paid", async () => {
    const payments = shop();
    await seed(pendingPayment());
    const { receiptId } = await payments.receiveWebhook(signed(completedBody(short)));
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why, dryRun: true });
    expect(payment).toMatchObject({ state: "completed", received: short.total });
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
  });

  it("let the provider's number of accepted evidence find the payment, also if several people accept it at the same moment", async () => {
    const shops = [shop(), shop(), shop()];
    await seed(pendingPayment());
    const accept = { action: "accept", clientId: "c-1", evidence: row, ...why } as const;
    await shops[0]!.resolve({ ...accept, dryRun: true });
    expect(await shops[0]!.find({ providerId: "mvk 778" })).toBeUndefined();
    await Promise.all(shops.map((payments) => payments.resolve(accept)));
    expect(await shops[0]!.find({ providerId: "mvk 778" })).toMatchObject({ clientId: "c-1" });
    const { entries, attention } = await shops[0]!.history("c-1");
    expect(entries.filter(({ kind }) => kind === "claim")).toEqual([]);
    expect(attention).toEqual([]);
  });

  it("accept a number of the provider for one payment, if people accept it for several at the same moment", async () => {
    const clientIds = ["c-1", "c-2", "c-3"];
    await seed(
      ...clientIds.map((clientId) =>
        pendingPayment({ clientId, serviceId: `s-${clientId}`, reference: clientId }),
      ),
    );
    const { serviceId: _, ...evidence } = row;
    const answers = await Promise.allSettled(
      clientIds.map((clientId) => shop().resolve({ action: "accept", clientId, evidence, ...why })),
    );
    const refused = answers.filter(({ status }) => status === "rejected");
    expect(refused).toMatchObject([1, 2].map(() => ({ reason: { code: "evidence_mismatch" } })));
    expect((await types()).filter((type) => type === "payment.completed")).toHaveLength(1);
  });

  it("are stored once, however many people resolve the same thing at the same moment", async () => {
    const shops = [shop(), shop(), shop()];
    await seed(pendingPayment());
    const { receiptId } = await shops[0]!.receiveWebhook(signed(completedBody(short)));
    const answers = await Promise.allSettled(
      shops.map((payments, n) =>
        payments.resolve({ action: "accept", receiptId, ...why, by: `person ${n}` }),
      ),
    );
    const made = answers.filter((one) => one.status === "fulfilled" && one.value.resolved);
    expect(made).toHaveLength(1);
    expect((await types()).filter((type) => type === "payment.completed")).toHaveLength(1);
    const again = await shops[1]!.resolve({ action: "accept", receiptId, ...why, by: "late" });
    expect(again.resolved).toBe(false);
    expect(again.resolution.by).toMatch(/^person \d$/);
  });

  it("note a refund of the second payment, which stays completed", async () => {
    const payments = shop();
    await seed(paidBefore, pendingPayment());
    await payments.receiveWebhook(signed(completedBody()));
    const { payment } = await payments.resolve({ action: "refunded", clientId: "c-1", ...why });
    expect(payment).toMatchObject({ state: "completed" });
    expect(await types()).toEqual(["payment.paid_twice", "payment.refunded", "payment.resolved"]);
    expect((await payments.resolve({ action: "refunded", clientId: "c-1", ...why })).resolved).toBe(false);
    expect(await types()).toHaveLength(3);
  });

  it("dismiss an unmatched webhook, which is no longer raised, and is still matched later", async () => {
    const payments = shop();
    const { receiptId } = await payments.receiveWebhook(signed(completedBody()));
    expect((await payments.health()).counts).toMatchObject({ parked: 1 });
    await payments.resolve({ action: "dismiss", receiptId, ...why });
    expect((await payments.health()).counts).toMatchObject({ parked: 0 });
    expect(await types()).toEqual(["payment.resolved"]);
    expect(
      await bench.place.store.transaction((tx) => bench.place.store.stray(tx, { before: "3", limit: 9 })),
    ).toEqual([]);
    const { reference, total } = pendingPayment();
    const { payment } = await payments.adopt({ clientId: "c-1", reference, total });
    expect(payment).toMatchObject({ state: "completed" });
  });

  it("dismiss a payment again that was dismissed while it was open, and was paid late since", async () => {
    const payments = shop();
    await seed(pendingPayment({ overdueAt: "2026-11-20T11:00:00.000Z" }));
    const dismiss = { action: "dismiss", clientId: "c-1", ...why } as const;
    expect(await payments.resolve(dismiss)).toMatchObject({ resolved: true });
    await payments.receiveWebhook(signed(completedBody()));
    expect(await payments.find("c-1")).toMatchObject({ attention: "paid_late" });
    expect(await payments.resolve(dismiss)).toMatchObject({ resolved: true });
    expect(await payments.find("c-1")).not.toHaveProperty("attention");
    expect(await payments.resolve(dismiss)).toMatchObject({ resolved: false });
  });

  it("dismiss a webhook again that was dismissed without its payment, and waits for a lookup since", async () => {
    const scheme = byFields;
    const payments = shop({ signature: scheme, lookup: true, confirm: "lookup" });
    const { receiptId } = await payments.receiveWebhook(signed(completedBody(), scheme));
    const dismiss = { action: "dismiss", receiptId, ...why } as const;
    await payments.resolve(dismiss);
    await payments.adopt({ clientId: "c-1", reference: "o-1", total: { value: "1475", currency: "KMF" } });
    const waiting = async () => (await bench.place.store.counts()).parked;
    expect(await waiting()).toBe(1);
    expect(await payments.resolve(dismiss)).toMatchObject({ resolved: true });
    expect(await waiting()).toBe(0);
    expect(await payments.resolve(dismiss)).toMatchObject({ resolved: false });
  });

  it("confirm a completion that no lookup confirmed", async () => {
    const scheme = byFields;
    const payments = shop({ signature: scheme, lookup: true, confirm: "lookup" });
    await seed(pendingPayment());
    const { receiptId, outcome } = await payments.receiveWebhook(signed(completedBody(), scheme));
    expect(outcome).toBe("unconfirmed");
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed" });
    const { webhooks } = await bench.place.store.history("c-1");
    expect(webhooks).toMatchObject([{ outcome: "applied", reason: "accepted by Amina: the till was wrong" }]);
    expect(await bench.place.store.counts()).toMatchObject({ parked: 0 });
  });

  it("complete a payment from a person's evidence, with all events, and once however many accept it", async () => {
    const shops = [shop(), shop(), shop()];
    await seed(pendingPayment({ cancelReturnedAt: "2026-11-20T10:00:00.000Z" }));
    const accept = { action: "accept", clientId: "c-1", evidence: row, ...why } as const;
    const all = await Promise.allSettled(shops.map((payments) => payments.resolve(accept)));
    expect(all.filter((one) => one.status === "fulfilled" && one.value.resolved)).toHaveLength(1);
    expect((await shops[2]!.resolve({ ...accept, by: "late" })).resolution.by).toBe(why.by);
    expect(await types()).toEqual(["payment.completed", "payment.paid_late", "payment.resolved"]);
    const [completed, , told] = await events();
    const verified = {
      id: row.serviceId,
      "total.value": "1475.00",
      providerId: "MVK-778",
      status: "completed",
    };
    expect(completed).toMatchObject({ reportedBy: "person", verified, payment: { state: "completed" } });
    expect(told).toMatchObject({ action: "accepted", evidence: row, ...why });
    const { resolutions } = await bench.place.store.history("c-1");
    expect(resolutions).toMatchObject([{ action: "accepted", evidence: row, ...why }]);
    const { outcome } = await shops[0]!.receiveWebhook(signed(completedBody()));
    expect(outcome).toBe("stale");
    expect(await types()).toHaveLength(3);
  });

  it("raise payment.paid_twice, and not completed, for evidence of a second payment of an order", async () => {
    const payments = shop();
    await seed(paidBefore, pendingPayment());
    const { payment } = await payments.resolve({ action: "accept", clientId: "c-1", evidence: row, ...why });
    expect(payment).toMatchObject({ state: "completed" });
    expect(await types()).toEqual(["payment.paid_twice", "payment.resolved"]);
    expect((await events())[0]).toMatchObject({ firstClientId: "c-0" });
  });

  it("let either the evidence or the webhook complete the payment, when both come at the same moment", async () => {
    const shops = [shop(), shop()];
    const count = 12;
    const ids = Array.from({ length: count }, (_, n) => ({ clientId: `c-${n}`, id: `s-${n}` }));
    await seed(
      ...ids.map(({ clientId, id }) =>
        pendingPayment({ clientId, serviceId: id, reference: `o-${clientId}` }),
      ),
    );
    const accepted = ids.map(({ clientId, id }) =>
      shops[1]!.resolve({
        action: "accept",
        clientId,
        evidence: { ...row, serviceId: id, providerId: `MVK-${id}` },
        ...why,
      }),
    );
    await Promise.all(
      ids.map(({ clientId, id }) =>
        shops[0]!.receiveWebhook(signed(completedBody({ clientId, id, providerId: `MVK-${id}` }))),
      ),
    );
    const refused = (await Promise.allSettled(accepted)).filter((one) => one.status === "rejected");
    expect(refused.filter(({ reason }) => !hasCode(reason, "resolution_not_possible"))).toEqual([]);
    expect((await types()).filter((type) => type === "payment.completed")).toHaveLength(count);
    expect((await types()).filter((type) => type === "payment.paid_twice")).toEqual([]);
  });

  it("complete a payment whose signed webhook the kit could not take, by the webhook's receiptId", async () => {
    const payments = shop();
    await seed(pendingPayment());
    const body = completedBody({ submittedAt: "yesterday" });
    const { receiptId, outcome } = await payments.receiveWebhook(signed(body));
    expect(outcome).toBe("inadmissible");
    const accept = { action: "accept", receiptId, ...why } as const;
    await expect(payments.resolve(accept)).rejects.toMatchObject({ code: "evidence_missing" });
    const evidence: Evidence = { ...row, kind: "webhook", document: "its body, read by hand" };
    await expect(payments.resolve({ ...accept, clientId: "c-2", evidence })).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("is about the payment c-1") as string,
    });
    const { payment, resolution } = await payments.resolve({ ...accept, evidence });
    expect(payment).toMatchObject({ state: "completed" });
    expect(resolution).toMatchObject({ clientId: "c-1", receiptId, evidence });
    expect(await types()).toEqual(["webhook.inadmissible", "payment.completed", "payment.resolved"]);
    expect((await payments.replay({ dryRun: false })).changed).toBe(0);
  });

  it("need the clientId beside an inadmissible webhook that does not show it", async () => {
    const payments = shop();
    await seed(pendingPayment());
    const { receiptId } = await payments.receiveWebhook(signed('{"paid":1475'));
    const accept = { action: "accept", receiptId, evidence: { ...row, kind: "webhook" }, ...why } as const;
    await expect(payments.resolve(accept)).rejects.toMatchObject({ code: "resolution_invalid" });
    const { payment } = await payments.resolve({ ...accept, clientId: "c-1" });
    expect(payment).toMatchObject({ state: "completed" });
  });

  it.each([
    ["another service id", wholeBody, { id: "s-2" }],
    ["another number of the provider that is not signed", byFields, { id: "s-1", providerId: "MVK-2" }],
  ])(
    "leave open a webhook that names %s, because the customer may have paid twice",
    async (_, scheme, other) => {
      const payments = shop({ signature: scheme });
      const { serviceId: __, ...unbound } = pendingPayment();
      await seed(unbound);
      const receive = (data: object) =>
        payments.receiveWebhook(signed(completedBody({ ...short, ...data }), scheme));
      const { receiptId } = await receive({ id: "s-1" });
      const same = await receive({ id: "s-1", submittedAt: "2026-11-20T10:01:00.000Z" });
      const second = await receive({ submittedAt: "2026-11-20T10:02:00.000Z", ...other });
      await payments.resolve({ action: "accept", receiptId, ...why });
      const { attention, entries } = await payments.history("c-1");
      expect(attention).toMatchObject([
        { rule: "mismatched", next: expect.stringContaining(second.receiptId) as string },
      ]);
      expect(entries).toContainEqual(
        expect.objectContaining({ action: "dismissed", receiptId: same.receiptId }),
      );
    },
  );

  it("keep a bound service id where a webhook with another one is accepted", async () => {
    const payments = shop();
    await seed(pendingPayment(), pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" }));
    const { receiptId } = await payments.receiveWebhook(signed(completedBody({ id: "s-2" })));
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed", serviceId: pendingPayment().serviceId });
  });

  it("leave a service id with the payment that has it where a webhook of another payment shows it", async () => {
    const payments = shop();
    const { serviceId: _, ...unbound } = pendingPayment();
    await seed(unbound, pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" }));
    const { receiptId } = await payments.receiveWebhook(signed(completedBody({ id: "s-2" })));
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed" });
    expect(payment).not.toHaveProperty("serviceId");
  });
});

describe("a resolution", () => {
  afterEach(closeAll);

  it.each([
    ["an action that is none", { action: "forget" as never, clientId: "c-1" }],
    ["no subject", { action: "dismiss" as const }],
    ["two subjects", { action: "dismiss" as const, clientId: "c-1", receiptId: "r-1" }],
    ["evidence of a dismissal", { action: "dismiss" as const, clientId: "c-1", evidence: row }],
    ["a refund of no payment", { action: "refunded" as const, receiptId: "r-1" }],
    ["no reason", { action: "dismiss" as const, clientId: "c-1", reason: " " }],
    ["nobody", { action: "dismiss" as const, clientId: "c-1", by: "" }],
  ])("with %s is refused", async (_, given) => {
    const payments = testKit();
    await expect(payments.resolve({ ...why, ...given })).rejects.toMatchObject({
      code: "resolution_invalid",
    });
  });

  it.each<[string, string, unknown]>([
    ["none", "evidence_missing", undefined],
    ["no object", "evidence_invalid", "the row"],
    ["an unknown name", "evidence_invalid", { ...row, amount: "1475" }],
    ["an unknown kind", "evidence_invalid", { ...row, kind: "rumour" }],
    ["a webhook that is not named", "evidence_invalid", { ...row, kind: "webhook" }],
    ["no place", "evidence_invalid", { ...row, document: " " }],
    ["no amount", "evidence_invalid", { ...row, total: undefined }],
    ["an amount that is a number", "evidence_invalid", { ...row, total: { value: 1475, currency: "KMF" } }],
    ["a reference that is no text", "evidence_invalid", { ...row, providerId: 778 }],
    ["another amount", "evidence_mismatch", { ...row, total: { value: "1470", currency: "KMF" } }],
    ["another currency", "evidence_mismatch", { ...row, total: { value: "1475", currency: "EUR" } }],
    ["another id", "evidence_mismatch", { ...row, serviceId: "s-9" }],
    ["the id of another payment", "evidence_mismatch", { ...row, serviceId: "s-2" }],
  ])("from evidence with %s is refused, and changes nothing", async (_, code, evidence) => {
    const payments = testKit();
    const { store } = payments;
    const { serviceId: __, ...unbound } = pendingPayment();
    const first =
      code === "evidence_mismatch" && (evidence as Evidence).serviceId === "s-2" ? unbound : pendingPayment();
    const created = [first, pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" })];
    await store.transaction((tx) => store.save(tx, { created }));
    const accept = { action: "accept", clientId: "c-1", evidence: evidence as Evidence, ...why } as const;
    await expect(payments.resolve(accept)).rejects.toMatchObject({ code });
    expect(await payments.find("c-1")).toEqual(first);
    expect(await store.history("c-1")).toMatchObject({ events: [], resolutions: [] });
  });

  it("that does not fit the stored state is refused with the stored state", async () => {
    const payments = testKit();
    const { store } = payments;
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const impossible = async (
      given: Pick<Parameters<typeof payments.resolve>[0], "action" | "receiptId" | "clientId">,
    ) => payments.resolve({ ...why, ...given }).catch((error: unknown) => (error as Error).message);
    const failed = await payments.receiveWebhook(
      signed(statusBody("failed", { total: { value: "1", currency: "KMF" } })),
    );
    const applied = await payments.receiveWebhook(signed(completedBody()));
    const mismatch = await payments.receiveWebhook(
      signed(completedBody({ total: { value: "2", currency: "KMF" } })),
    );

    expect(await impossible({ action: "accept", receiptId: "nobody" })).toMatch(/no webhook nobody/);
    expect(await impossible({ action: "accept", receiptId: applied.receiptId })).toMatch(
      /applied, not a mismatch/,
    );
    expect(await impossible({ action: "accept", receiptId: mismatch.receiptId })).toMatch(
      /completed already/,
    );
    expect(await impossible({ action: "dismiss", receiptId: applied.receiptId })).toMatch(/it is applied/);
    expect(await impossible({ action: "refunded", clientId: "nobody" })).toMatch(
      /the store has no payment nobody/,
    );
    expect(await impossible({ action: "dismiss", clientId: "nobody" })).toMatch(/has no payment nobody/);
    const open = pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" });
    await store.transaction((tx) => store.save(tx, { created: [open] }));
    expect(await impossible({ action: "refunded", clientId: "c-2" })).toMatch(/only a completed payment/);
    const late = { clientId: "c-2", id: "s-2", total: { value: "1", currency: "KMF" } };
    const said = await payments.receiveWebhook(signed(statusBody("failed", late)));
    expect(await impossible({ action: "accept", receiptId: said.receiptId })).toMatch(
      /says failed, not completed/,
    );
    expect(failed.outcome).toBe("mismatch");
  });

  it.each(["mismatch", "unconfirmed"])(
    "from evidence is refused with the receiptId of a readable webhook, which is %s: nothing would check the evidence",
    async (expected) => {
      const isMismatch = expected === "mismatch";
      const scheme = isMismatch ? wholeBody : byFields;
      const payments = testKit({
        signature: scheme,
        ...(!isMismatch && { lookup: true, confirm: "lookup" }),
      });
      const { store } = payments;
      await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
      const body = completedBody(isMismatch ? { total: { value: "1470", currency: "KMF" } } : {});
      const { receiptId, outcome } = await payments.receiveWebhook(signed(body, scheme));
      expect(outcome).toBe(expected);
      const evidence = { ...row, total: { value: "9", currency: "EUR" }, serviceId: "other" };
      await expect(payments.resolve({ action: "accept", receiptId, evidence, ...why })).rejects.toMatchObject(
        {
          code: "resolution_invalid",
          message: expect.stringMatching(/evidence would not be checked.*without the receiptId/) as string,
        },
      );
      expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
      expect(await store.history("c-1")).toMatchObject({ resolutions: [] });
    },
  );
});
