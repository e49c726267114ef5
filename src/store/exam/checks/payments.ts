import assert from "node:assert/strict";
import { type Payment } from "../../../model/payment.js";
import { type Exam, saved } from "./exam.js";
import { payment, webhook } from "./fixtures.js";
import { same } from "./same.js";

const conflict = { code: "store_conflict" };

/** Everything that a payment can carry, with text that careless stores fold, cut or escape. */
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
    lone: "\ud800",
  },
  createdAt: "2024-05-01T10:00:00.001Z",
  updatedAt: "2024-05-02T10:00:00.999Z",
  completedAt: "2024-05-02T10:00:00.999Z",
  successReturnedAt: "2024-05-01T11:00:00.000Z",
  cancelReturnedAt: "2024-05-01T12:00:00.000Z",
  replacedBy: "p2",
  failure: "creation_refused",
  overdueAt: "2024-05-01T13:00:00.000Z",
};

export function paymentChecks<Tx>({ check }: Exam<Tx>): void {
  check("a payment comes back exactly as it was saved", async (store, another) => {
    await saved(store, { created: [full, payment("p1", { metadata: {} })] });
    same(await another.find(full.clientId), full);
    same(await another.find("p1"), payment("p1", { metadata: {} }));
    const locked = await store.transaction((tx) => store.lock(tx, { references: [full.reference] }));
    same(locked.payments, [full]);
  });

  check("an update replaces the whole payment, and what it left out is gone", async (store) => {
    await saved(store, { created: [full] });
    const { metadata: _, locale: __, ...lean } = full;
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: [full.clientId] });
      await store.save(tx, { updated: [lean] });
    });
    same(await store.find(full.clientId), lean);
  });

  check("several payments are updated at once, each with its own content", async (store) => {
    const ids = Array.from({ length: 30 }, (_, index) => `p${index}`);
    await saved(store, { created: ids.map((id) => payment(id)) });
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
  });

  check("a clientId is unique; the clash is reported and the first stays", async (store) => {
    await saved(store, { created: [payment("p1")] });
    const answer = await saved(store, {
      created: [payment("p1", { reference: "other", status: "x" }), payment("p2")],
    });
    same(answer.takenClientIds, ["p1"]);
    same(await store.find("p1"), payment("p1"));
    same(await store.find("p2"), payment("p2"));
  });

  check("a reference has one open payment, and any number that are not open", async (store) => {
    const reference = "order-1";
    await saved(store, { created: [payment("p1", { reference })] });
    const answer = await saved(store, {
      created: [payment("p2", { reference }), payment("p3", { reference, open: false }), payment("p4")],
    });
    same(answer.takenClientIds, ["p2"]);
    assert.equal(await store.find("p2"), undefined);
    assert.equal((await store.find("p3"))?.open, false);
    assert.ok(await store.find("p4"));
    const closed = await saved(store, { created: [payment("p5", { reference, open: false })] });
    same(closed.takenClientIds, []);
  });

  check("of two open payments of one reference in one call, one is stored", async (store) => {
    const reference = "order-1";
    const created = [payment("p1", { reference }), payment("p2", { reference })];
    const { takenClientIds } = await saved(store, { created });
    assert.equal(takenClientIds.length, 1);
    const stored = takenClientIds[0] === "p1" ? "p2" : "p1";
    assert.equal(await store.find(takenClientIds[0]!), undefined);
    assert.ok(await store.find(stored));
  });

  check("one call closes an attempt and opens the next", async (store) => {
    const reference = "order-1";
    await saved(store, { created: [payment("p1", { reference })] });
    const answer = await store.transaction(async (tx) => {
      await store.lock(tx, { references: [reference] });
      return store.save(tx, {
        created: [payment("p2", { reference })],
        updated: [payment("p1", { reference, open: false, replacedBy: "p2" })],
      });
    });
    same(answer.takenClientIds, []);
    assert.equal((await store.find("p1"))?.open, false);
    assert.equal((await store.find("p2"))?.open, true);
  });

  check("an update that opens a second attempt of a reference rejects", async (store) => {
    const reference = "order-1";
    await saved(store, {
      created: [payment("p1", { reference }), payment("p2", { reference, open: false })],
    });
    await assert.rejects(saved(store, { updated: [payment("p2", { reference })] }), conflict);
    assert.equal((await store.find("p2"))?.open, false);
  });

  check("a service id bound to a second payment rejects, and leaves nothing behind", async (store) => {
    await saved(store, { created: [payment("p1", { serviceId: "s1" }), payment("p2")] });
    const created = saved(store, {
      created: [payment("p3", { serviceId: "s1" })],
      webhooks: [webhook("k1")],
    });
    await assert.rejects(created, conflict);
    const updated = saved(store, {
      updated: [payment("p2", { serviceId: "s1" })],
      webhooks: [webhook("k1")],
    });
    await assert.rejects(updated, conflict);
    assert.equal(await store.find("p3"), undefined);
    same(await store.find("p2"), payment("p2"));
    same((await saved(store, { webhooks: [webhook("k1")] })).takenEventKeys, []);
  });

  check("a service id that is taken rejects, whoever takes the reference behind it", async (store) => {
    await saved(store, { created: [payment("p1", { serviceId: "s1" })] });
    const reference = "one for both";
    const created = [payment("p2", { reference, serviceId: "s1" }), payment("p3", { reference })];
    await assert.rejects(saved(store, { created }), conflict);
    assert.equal(await store.find("p3"), undefined);
  });

  check("after a conflict the transaction cannot commit, even if the error is swallowed", async (store) => {
    await saved(store, { created: [payment("p1", { serviceId: "s1" })] });
    const run = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p2")] });
      await store.save(tx, { created: [payment("p3", { serviceId: "s1" })] }).catch(() => undefined);
    });
    await assert.rejects(run);
    assert.equal(await store.find("p2"), undefined);
  });

  check("ids that differ in case, accents, normal form or trailing space are different", async (store) => {
    const references = ["E1", "e1", "é1", "e\u03011", "e1 ", "ｅ1"];
    const created = references.map((reference, index) => payment(`p${index}`, { reference }));
    const { takenClientIds } = await saved(store, {
      created: [...created, payment("P0", { serviceId: "S" }), payment("p9", { serviceId: "s" })],
    });
    same(takenClientIds, []);
    assert.equal((await store.find("P0"))?.serviceId, "S");
    for (const [index, reference] of references.entries()) {
      const { payments } = await store.transaction((tx) => store.lock(tx, { references: [reference] }));
      same(payments, [created[index]]);
    }
    const { takenEventKeys } = await saved(store, { webhooks: [webhook("K1"), webhook("k1")] });
    same(takenEventKeys, []);
  });
}
