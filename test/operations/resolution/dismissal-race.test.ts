import { storeOver } from "tillkit";
import { onEachDatabase, openStore } from "../../promises/processes/databases.js";
import { memoryAdapter } from "../../store/over/memory-adapter.js";
import { openPatientStore, untilWaiting } from "../../store/sql/support/waiting-for-locks.js";
import { testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

const { clientId, reference, total } = pendingPayment();
const why = { reason: "a test", by: "Amina" };
type Webhooks = (page: { receiptId?: string; limit: number }) => Promise<unknown>;

/** Makes `webhooks` of a store run `act` after its second call, which a dismissal makes inside of its transaction. */
function afterSecondRead(store: { webhooks?: unknown }, act: () => Promise<unknown>): void {
  const webhooks = (store.webhooks as Webhooks).bind(store);
  let calls = 0;
  const replaced: Webhooks = async (page) => {
    const found = await webhooks(page);
    if (++calls === 2) await act();
    return found;
  };
  Object.defineProperty(store, "webhooks", { value: replaced });
}

describe("a dismissal of a webhook that is matched at the same moment", () => {
  it("is refused where the match commits first", async () => {
    const records = new Map();
    const open = () => storeOver(memoryAdapter(records));
    const [store, payments] = [open(), testKit({ store: open() })];
    const { receiptId } = await payments.receiveWebhook(signed(completedBody()));
    afterSecondRead(store, () => payments.adopt({ clientId, reference, total }));
    const dismissing = testKit({ store }).resolve({ action: "dismiss", receiptId, ...why });
    await expect(dismissing).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("it is applied"),
    });
    const { resolutions, webhooks } = await store.history("c-1");
    expect([resolutions, webhooks]).toMatchObject([[], [{ outcome: "applied" }]]);
  });
});

onEachDatabase("a dismissal of a webhook", (kind) => {
  const bench = shopBench(kind);

  it("lets a match wait, which then decides the webhook after it", async () => {
    const payments = bench.shop({ store: openPatientStore(bench.place.address) });
    const { receiptId } = await payments.receiveWebhook(signed(completedBody()));
    const store = openStore(bench.place.address);
    let adopting: Promise<unknown> | undefined;
    afterSecondRead(store, async () => {
      adopting = payments.adopt({ clientId, reference, total });
      // SQLite has one writer, and no statement that waits in the database.
      if (kind !== "sqlite") await untilWaiting(bench.place);
    });
    const { resolved } = await bench.shop({ store }).resolve({ action: "dismiss", receiptId, ...why });
    expect(resolved).toBe(true);
    await adopting;
    const { resolutions, webhooks } = await bench.place.store.history("c-1");
    expect(resolutions).toMatchObject([{ action: "dismissed" }]);
    expect(webhooks).toMatchObject([{ outcome: "applied" }]);
    expect(await bench.recorded()).toEqual(["payment.resolved", "payment.completed"]);
  });
});
