import { type Intent, storeIntents } from "../../src/checkout/store-intents.js";
import { payment } from "../../src/store/exam/checks/fixtures.js";
import { saved } from "../../src/store/exam/checks/steps.js";
import { onEachServer, openPlace, openStore, type Place } from "../promises/processes/databases.js";

// SQLite has one writer, so that no attempt appears between two statements of a transaction.
onEachServer("unseen attempts", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(() => place.remove());

  it("makes a creation choose again, without a wait for the call that has locked the unseen attempt", async () => {
    const store = openStore(place.address);
    const unseen = payment("p1", { reference: "order-1", open: false, state: "failed" });
    let held: Promise<void> | undefined;
    let release: (() => void) | undefined;
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      const locked = await lock(tx, keys);
      if (held) return locked;
      await saved(place.store, { created: [unseen] });
      await new Promise<void>((resolve) => {
        held = place.store.transaction(async (other) => {
          await place.store.lock(other, { clientIds: ["p1"] });
          resolve();
          await new Promise<void>((free) => (release = free));
        });
      });
      return locked;
    };
    const total = { value: "1475", currency: "KMF" };
    const request = { reference: "order-1", total } as Intent["request"];
    const times = { reuseForMs: 60_000, creationMs: 10_000, firstLookupMs: 60_000 };
    const storing = storeIntents({ store, now: () => new Date(), options: times }, [
      { request, clientId: "p2", returnKeyHash: "hash", giveUpAt: Infinity },
    ]);
    expect(await storing.finally(() => release?.())).toEqual([{ kind: "outdated" }]);
    await held;
    await store.close();
  });
});
