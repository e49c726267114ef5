import { MemoryStore, type PaymentsOptions, type PaymentStore, storeOver } from "tillkit";
import { onEachDatabase, openPlace, openStore, type Place } from "../../promises/processes/databases.js";
import { memoryAdapter } from "../../store/over/memory-adapter.js";
import { closeAll, testKit } from "../../support/kit.js";

/** An empty store, which several processes of a shop can share. */
export interface StoreBench {
  /** The test's own store. */
  readonly store: PaymentStore;
  /** Makes a process of the shop. */
  shop(options?: Partial<PaymentsOptions>): ReturnType<typeof testKit>;
}

/** Defines tests for each shipped store, and for a store over an adapter. Each test has an empty store. */
export function onEachStore(about: string, define: (bench: StoreBench) => void): void {
  describe("in memory", () =>
    define(
      benchOf(() => {
        const store = new MemoryStore() as PaymentStore;
        return { open: () => store };
      }),
    ));
  describe("over an adapter", () =>
    define(
      benchOf(() => {
        const records = new Map();
        return { open: () => storeOver(memoryAdapter(records)) };
      }),
    ));
  onEachDatabase(about, (kind) =>
    define(
      benchOf(async () => {
        const place: Place = await openPlace(kind);
        return { open: () => openStore(place.address), remove: () => place.remove() };
      }),
    ),
  );
}

interface Shared {
  open: () => PaymentStore;
  remove?: () => Promise<void>;
}

function benchOf(share: () => Shared | Promise<Shared>): StoreBench {
  let shared: Shared;
  let store: PaymentStore;
  beforeEach(async () => {
    shared = await share();
    store = shared.open();
    await store.migrate();
  });
  afterEach(async () => {
    await closeAll();
    await store.close();
    await shared.remove?.();
  });
  return {
    get store() {
      return store;
    },
    shop: (options) => testKit({ store: shared.open(), spool: false, ...options }),
  };
}
