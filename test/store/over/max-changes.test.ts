import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type RecordChange, storeOver } from "tillkit";
import { testStore } from "tillkit/testing";
import { fileAdapter } from "../../../examples/stores/file.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

const folders = new Map<object, string>();

/** Returns a store over a database that takes 60 changes in one write, the least that an adapter may take. */
function openLimited() {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-file-"));
  const adapter = fileAdapter(path.join(folder, "payments.jsonl"));
  const maxChanges = 60;
  const store = storeOver<RecordChange>({
    ...adapter,
    maxChanges,
    async write(changes, items) {
      if (changes.length > maxChanges)
        throw new Error(`${changes.length} changes are more than ${maxChanges}.`);
      return adapter.write(changes, items);
    },
  });
  folders.set(store, folder);
  return store;
}

const remove = async (store: object) => rmSync(folders.get(store)!, { recursive: true, force: true });

testStore({
  name: "a store that takes 60 changes",
  create: async () => openLimited(),
  remove,
  test: it,
  capabilities: { probe: false },
});

it("a sweep raises more overdue payments than one write can take", async () => {
  const store = openLimited();
  const payments = testKit({ store });
  payments.on("payment.overdue", () => {}, { name: "reminder" });
  await payments.start();
  const ids = Array.from({ length: 50 }, (_, index) => `c-${index}`);
  for (const clientId of ids) {
    const { serviceId: _, ...payment } = pendingPayment({ clientId, reference: `order-of-${clientId}` });
    await store.transaction((tx) => store.save(tx, { created: [payment] }));
  }
  await payments.sweep();
  for (const clientId of ids) expect((await store.find(clientId))?.overdueAt).toBeDefined();
  await closeAll();
  await remove(store);
});

it("a replay changes more webhooks than one write can take", async () => {
  const store = openLimited();
  const ids = Array.from({ length: 40 }, (_, index) => `c-${index}`);
  const north = testKit({ store, clientIdPrefix: "north-" });
  for (const clientId of ids)
    await north.receiveWebhook(signed(completedBody({ clientId, id: `id-of-${clientId}` })));
  for (const clientId of ids) {
    const payment = pendingPayment({
      clientId,
      reference: `order-of-${clientId}`,
      serviceId: `id-of-${clientId}`,
    });
    await store.transaction((tx) => store.save(tx, { created: [payment] }));
  }
  const replayed = await testKit({ store }).replay({ dryRun: false });
  expect(replayed).toMatchObject({ looked: 40, changed: 40 });
  for (const clientId of ids) expect(await store.find(clientId)).toMatchObject({ state: "completed" });
  await closeAll();
  await remove(store);
});
