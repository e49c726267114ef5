import { onEachDatabase, openStore } from "../promises/processes/databases.js";
import { openPatientStore, untilWaiting } from "../store/sql/support/waiting-for-locks.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { willingService } from "../support/willing-service.js";
import { shopBench } from "./shop-bench.js";

const { clientId, reference } = pendingPayment();
const small = { value: "5", currency: "KMF" };
const large = { value: "147500", currency: "KMF" };

onEachDatabase("the adoption of a paid payment of a reference that has none", (kind) => {
  const bench = shopBench(kind);

  it("does not complete the order for its amount while the first creation of another amount commits", async () => {
    const adopting = bench.shop({ store: openPatientStore(bench.place.address) });
    await adopting.receiveWebhook(signed(completedBody({ clientId, total: small })));
    const store = openStore(bench.place.address);
    const creating = bench.shop({ store, service: willingService().options });
    let adoption: Promise<unknown> | undefined;
    const lock = store.lock.bind(store);
    let locks = 0;
    store.lock = async (tx, keys) => {
      const locked = await lock(tx, keys);
      // The second lock comes after the attempt was stored, and before its commit.
      if (++locks !== 2) return locked;
      adoption = adopting.adopt({ clientId, reference, total: small });
      // SQLite has one writer, and no statement that waits in the database.
      if (kind !== "sqlite") await Promise.race([untilWaiting(bench.place), adoption]);
      return locked;
    };
    await creating.create({ reference, total: large });
    await adoption;
    expect(await bench.recorded()).toEqual(["payment.paid_other_amount"]);
  });
});
