import assert from "node:assert/strict";
import { type LastReport, type Payment } from "../../../model/payment.js";
import { type PaymentPage } from "../../contract.js";
import { payment, webhook } from "./fixtures.js";
import { type Checks, clientIds, concurrently, same, saved, savedInPieces } from "./steps.js";

const storeConflict = { code: "store_conflict" };
const reference = "order-1";

/** A payment with almost every field. A wrong store would change or cut some of its characters. */
const full: Payment = {
  clientId: "A.z_9:-",
  reference: "Bestellung Ñ ñ 日本 🧾 'quoted' \"twice\" \\ back % _ ",
  total: { value: "0010.50", currency: "EUR" },
  state: "completed",
  status: "completed",
  open: false,
  serviceId: "665f00c2a1b2c3d4e5f60718",
  checkoutUrl: "https://pay.example/payment/submit/665f00c2a1b2c3d4e5f60718?a=1&b=%20",
  returnKeyHash: "ab".repeat(32),
  locale: "fr-KM",
  metadata: {
    text: "é e\u0301 🧾 \u0000 \u2028 \\n",
    nested: { list: [1, 1.5, -0.25, true, false, null, "", {}, []] },
    big: Number.MAX_SAFE_INTEGER,
    "": "empty key",
    halfACharacter: "\ud800",
  },
  createdAt: "2024-05-01T10:00:00.001Z",
  updatedAt: "2024-05-02T10:00:00.999Z",
  completedAt: "2024-05-02T10:00:00.999Z",
  successReturnedAt: "2024-05-01T11:00:00.000Z",
  cancelReturnedAt: "2024-05-01T12:00:00.000Z",
  replacedBy: "p2",
  failure: "creation_refused",
  overdueAt: "2024-05-01T13:00:00.000Z",
  withheld: "unsettled",
  firstWebhookAt: "2024-05-01T10:00:00.500Z",
  received: { value: "12.75", currency: "EUR" },
  refunded: "12.25",
};

/** Checks of the content of payments, and of the values that must be unique. */
export const paymentChecks: Checks = {
  async "a payment is read exactly as it was saved"(store, another) {
    await saved(store, { created: [full, payment("p1", { metadata: {} })] });
    same(await another.find(full.clientId), full);
    same(await another.find("p1"), payment("p1", { metadata: {} }));
    const locked = await store.transaction((tx) => store.lock(tx, { references: [full.reference] }));
    same(locked, { payments: [full], eventKeys: [] });
  },

  async "an update replaces the whole payment, and deletes the fields that it leaves out"(store) {
    await saved(store, { created: [full] });
    const { metadata: _, locale: __, ...lean } = full;
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: [full.clientId] });
      await store.save(tx, { updated: [lean] });
    });
    same(await store.find(full.clientId), lean);
  },

  async "one call updates several payments, each with its own content"(store) {
    const ids = Array.from({ length: 30 }, (_, index) => `p${index}`);
    await savedInPieces(
      store,
      "created",
      ids.map((id) => payment(id)),
    );
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: ids });
      await store.save(tx, {
        updated: payments.map((one, index) => ({
          ...one,
          status: `s-${one.clientId}`,
          ...(index % 2 === 0 ? { serviceId: `service-${one.clientId}` } : {}),
        })),
      });
    });
    for (const id of ids) assert.equal((await store.find(id))?.status, `s-${id}`);
  },

  async "a clientId is unique; the clash is reported and the first payment stays"(store) {
    await saved(store, { created: [payment("p1")] });
    const { takenClientIds } = await saved(store, {
      created: [payment("p1", { reference: "other", status: "x" }), payment("p2")],
    });
    same(takenClientIds, ["p1"]);
    same(await store.find("p1"), payment("p1"));
    same(await store.find("p2"), payment("p2"));
  },

  async "a service id bound to a second payment rejects, and leaves nothing behind"(store) {
    await saved(store, { created: [payment("p1", { serviceId: "s1" }), payment("p2")] });
    const webhooks = [webhook("k1")];
    const created = saved(store, { created: [payment("p3", { serviceId: "s1" })], webhooks });
    await assert.rejects(created, storeConflict);
    const updated = saved(store, { updated: [payment("p2", { serviceId: "s1" })], webhooks });
    await assert.rejects(updated, storeConflict);
    assert.equal(await store.find("p3"), undefined);
    same(await store.find("p2"), payment("p2"));
    same((await saved(store, { webhooks })).takenEventKeys, []);
  },

  async "a service id that is taken rejects, also where the reference is taken by the next payment"(store) {
    await saved(store, { created: [payment("p1", { serviceId: "s1" })] });
    const created = [payment("p2", { reference, serviceId: "s1" }), payment("p3", { reference })];
    await assert.rejects(saved(store, { created }), storeConflict);
    assert.equal(await store.find("p3"), undefined);
  },

  async "after a conflict the transaction cannot commit, even if the error is swallowed"(store) {
    await saved(store, { created: [payment("p1", { serviceId: "s1" })] });
    const run = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p2")] });
      await store.save(tx, { created: [payment("p3", { serviceId: "s1" })] }).catch(() => undefined);
    });
    await assert.rejects(run);
    assert.equal(await store.find("p2"), undefined);
  },

  async "ids that differ in case, accents, normal form or trailing space are different"(store) {
    const references = ["E1", "e1", "é1", "e\u03011", "e1 ", "ｅ1"];
    const created = references.map((each, index) => payment(`p${index}`, { reference: each }));
    const { takenClientIds } = await saved(store, {
      created: [...created, payment("P0", { serviceId: "S" }), payment("p9", { serviceId: "s" })],
    });
    same(takenClientIds, []);
    assert.equal((await store.find("P0"))?.serviceId, "S");
    for (const [index, each] of references.entries()) {
      const { payments } = await store.transaction((tx) => store.lock(tx, { references: [each] }));
      same(payments, [created[index]]);
    }
    const { takenEventKeys } = await saved(store, { webhooks: [webhook("K1"), webhook("k1")] });
    same(takenEventKeys, []);
  },
};

/** Checks of the attempts of one reference, of which at most one is open. */
export const attemptChecks: Checks = {
  async "a reference has one open payment, and any number that are not open"(store) {
    await saved(store, { created: [payment("p1", { reference })] });
    const { takenClientIds } = await saved(store, {
      created: [payment("p2", { reference }), payment("p3", { reference, open: false }), payment("p4")],
    });
    same(takenClientIds, ["p2"]);
    assert.equal(await store.find("p2"), undefined);
    assert.equal((await store.find("p3"))?.open, false);
    assert.ok(await store.find("p4"));
    const created = [payment("p5", { reference, open: false }), payment("p6", { reference })];
    same((await saved(store, { created })).takenClientIds, ["p6"]);
  },

  async "of two open payments of one reference in one call, one is stored"(store) {
    const created = [payment("p1", { reference }), payment("p2", { reference })];
    const { takenClientIds } = await saved(store, { created });
    assert.equal(takenClientIds.length, 1);
    const stored = takenClientIds[0] === "p1" ? "p2" : "p1";
    assert.equal(await store.find(takenClientIds[0]!), undefined);
    assert.ok(await store.find(stored));
  },

  async "of two first openings of one reference at the same time, one is stored and the other reported"(
    store,
    another,
  ) {
    for (let round = 0; round < 10; round++) {
      const reference = `order-${round}`;
      const taken = await concurrently(2, [store, another], (mine, index) =>
        mine.transaction(async (tx) => {
          // `lock` finds no payment that it could lock.
          await mine.lock(tx, { references: [reference] });
          return (await mine.save(tx, { created: [payment(`p${round}-${index}`, { reference })] }))
            .takenClientIds;
        }),
      );
      assert.equal(
        taken.flat().length,
        1,
        "two first attempts of one reference were both open, or both refused",
      );
      const { payments } = await store.transaction((tx) => store.lock(tx, { references: [reference] }));
      assert.equal(payments.length, 1);
    }
  },

  async "one call closes an attempt and opens the next"(store) {
    await saved(store, { created: [payment("p1", { reference })] });
    const { takenClientIds } = await store.transaction(async (tx) => {
      await store.lock(tx, { references: [reference] });
      return store.save(tx, {
        created: [payment("p2", { reference })],
        updated: [payment("p1", { reference, open: false, replacedBy: "p2" })],
      });
    });
    same(takenClientIds, []);
    assert.equal((await store.find("p1"))?.open, false);
    assert.equal((await store.find("p2"))?.open, true);
  },

  async "an update that opens a second attempt of a reference rejects"(store) {
    const created = [payment("p1", { reference }), payment("p2", { reference, open: false })];
    await saved(store, { created });
    await assert.rejects(saved(store, { updated: [payment("p2", { reference })] }), storeConflict);
    assert.equal((await store.find("p2"))?.open, false);
  },
};

const reported: LastReport = {
  status: "completed",
  captured: true,
  submittedAt: "2024-05-01T12:00:00.123456+03:00",
  providerId: "Ñ'778 ",
  source: "MVK",
  at: "2024-05-01T10:00:00.999Z",
  verified: ["status", "submittedAt"],
};

/** Checks of reports, of `list` by `providerId`, and of the evidence and amounts in resolutions. */
export const reportChecks: Checks = {
  async "what the service said stays with the payment, and is replaced as a whole"(store, another) {
    const service = { createdAt: "2024-05-01T10:00:00Z", reportedAt: "2024-05-01T12:00:01.5Z" };
    const before = payment("p1", { reported, service });
    const timed = payment("p2", { service: { createdAt: "x" } });
    await saved(store, { created: [before, timed] });
    same(await another.find("p1"), before);
    const lean = payment("p1", { reported: { status: "sent", at: reported.at, verified: [] } });
    const full = payment("p2", { reported: { ...reported, captured: false } });
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: ["p1", "p2"] });
      same(payments, [before, timed]);
      await store.save(tx, { updated: [lean, full] });
    });
    same(await another.find("p1"), lean);
    same(await another.find("p2"), full);
  },

  async "list selects by the providerId, which several payments can have"(store) {
    const ids = ["p1", "p2", "p3"];
    await saved(store, { created: [...ids.map((id) => payment(id, { reported })), payment("p4")] });
    const list = (providerId: string, more: Partial<PaymentPage> = {}) =>
      store.list({ providerId, newestFirst: true, limit: 2, ...more });
    same(clientIds(await list(reported.providerId!)), ["p3", "p2"]);
    same(clientIds(await list(reported.providerId!, { state: "completed" })), []);
    same(clientIds(await list(reported.providerId!, { reference: "order-of-p1" })), ["p1"]);
    same(clientIds(await list("Ñ'778")), []);
    same(clientIds(await store.list({ newestFirst: false, limit: 10 })), [...ids, "p4"]);
  },

  async "a resolution keeps the evidence of the person, and the amounts of a refund"(store, another) {
    const total = { value: "10.50", currency: "EUR" };
    const evidence = {
      kind: "statement",
      document: "Relevé d’août, ligne 7",
      total,
      serviceId: "s1",
    } as const;
    const made = { clientId: "p1", action: "accepted", reason: "r", by: "b", at: reported.at } as const;
    const refund = { kind: "reversal", amount: total, before: total, rest: total, key: "ligne 7" } as const;
    const resolutions = [
      { ...made, id: "r1", evidence },
      { ...made, id: "r2", before: "pending", after: "completed" },
      { ...made, id: "r3", action: "refunded", refund } as const,
    ];
    await saved(store, { created: [payment("p1")], resolutions });
    same((await another.history("p1")).resolutions, resolutions);
  },
};
