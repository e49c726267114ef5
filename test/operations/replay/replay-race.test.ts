import { MemoryStore, storeOver } from "tillkit";
import { onEachDatabase, onEachServer, openStore } from "../../promises/processes/databases.js";
import { memoryAdapter } from "../../store/over/memory-adapter.js";
import { openPatientStore, untilWaiting } from "../../store/sql/support/waiting-for-locks.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

afterEach(closeAll);

const { clientId, reference, total } = pendingPayment();
const asOtherShop = { clientIdPrefix: "other-" };

/** Makes a method of a store run `act` after its first call, or after the call with this number. */
function afterFirst(
  store: object,
  method: "webhooks" | "lock",
  act: () => Promise<unknown>,
  number = 1,
): void {
  const own = store as Record<typeof method, (...args: unknown[]) => Promise<unknown>>;
  const call = own[method].bind(store);
  let calls = 0;
  const replaced = async (...args: unknown[]) => {
    const result = await call(...args);
    if (++calls === number) await act();
    return result;
  };
  Object.defineProperty(store, method, { value: replaced });
}

onEachDatabase("replays beside adoptions", (kind) => {
  const bench = shopBench(kind);

  it("leave a webhook applied that an adoption applies after the page was read", async () => {
    const payments = bench.shop();
    await payments.receiveWebhook(signed(completedBody()));
    const store = openStore(bench.place.address);
    afterFirst(store, "webhooks", () => payments.adopt({ clientId, reference, total }));
    const by = { by: "Amina", reason: "adopted" };
    expect(await bench.shop({ store }).replay({ dryRun: false, ...by })).toMatchObject({
      looked: 1,
      changed: 0,
    });
    const { webhooks, resolutions } = await bench.place.store.history(clientId);
    expect([webhooks, resolutions]).toMatchObject([[{ outcome: "applied" }], []]);
    expect(await bench.recorded()).toEqual(["payment.completed"]);
  });
});

onEachServer("replays beside adoptions of a webhook whose payment was not stored", (kind) => {
  const bench = shopBench(kind);

  it("leave the webhook applied where the adoption commits after the lock", async () => {
    await bench.shop(asOtherShop).receiveWebhook(signed(completedBody()));
    const store = openStore(bench.place.address);
    const adopting = bench.shop();
    afterFirst(store, "lock", () => adopting.adopt({ clientId, reference, total }));
    expect(await bench.shop({ store }).replay({ dryRun: false })).toMatchObject({ changed: 0 });
    const { webhooks } = await bench.place.store.history(clientId);
    expect(webhooks).toMatchObject([{ outcome: "applied" }]);
  });

  it("let an adoption wait that comes after their last look at the webhook", async () => {
    await bench.shop(asOtherShop).receiveWebhook(signed(completedBody()));
    const store = openStore(bench.place.address);
    const payments = bench.shop({ store: openPatientStore(bench.place.address) });
    let adopting: Promise<unknown> | undefined;
    const adopt = () => {
      adopting = payments.adopt({ clientId, reference, total });
      return untilWaiting(bench.place);
    };
    // The first call reads the page, and the second is in the transaction that saves it.
    afterFirst(store, "webhooks", adopt, 2);
    expect(await bench.shop({ store }).replay({ dryRun: false })).toMatchObject({
      changes: [{ from: "foreign", to: "unmatched" }],
    });
    await adopting;
    const { webhooks } = await bench.place.store.history(clientId);
    expect(webhooks).toMatchObject([{ outcome: "applied" }]);
    expect(await bench.recorded()).toEqual(["payment.completed"]);
  });
});

describe("a replay of a page", () => {
  it("changes the other webhooks where an adoption applies one of them after the page was read", async () => {
    const store = new MemoryStore();
    const north = testKit({ store, ...asOtherShop });
    const ids = ["c-1", "c-2", "c-3"];
    for (const id of ids) await north.receiveWebhook(signed(completedBody({ clientId: id, id: `s-${id}` })));
    await north.sweep();
    const payments = testKit({ store });
    afterFirst(store, "webhooks", () => payments.adopt({ clientId: "c-2", reference, total }));
    const { changed, changes } = await payments.replay({ dryRun: false });
    expect([changed, changes.map((change) => [change.clientId, change.to])]).toEqual([
      2,
      [
        ["c-1", "unmatched"],
        ["c-3", "unmatched"],
      ],
    ]);
    expect(await payments.find("c-2")).toMatchObject({ state: "completed" });
  });
});

describe("a replay on an adapter's store", () => {
  it("leaves a webhook applied that an adoption applies after the lock", async () => {
    const records = new Map();
    const open = () => storeOver(memoryAdapter(records));
    await testKit({ store: open(), ...asOtherShop }).receiveWebhook(signed(completedBody()));
    const [store, adopting] = [open(), testKit({ store: open() })];
    afterFirst(store, "lock", () => adopting.adopt({ clientId, reference, total }));
    expect(await testKit({ store }).replay({ dryRun: false })).toMatchObject({ changed: 0 });
    expect((await store.history(clientId)).webhooks).toMatchObject([{ outcome: "applied" }]);
  });
});
