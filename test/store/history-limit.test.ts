import { MemoryStore, type PaymentStore, storeOver } from "tillkit";
import { event, webhook } from "../../src/store/exam/checks/fixtures.js";
import { onEachDatabase, openPlace, type Place } from "../promises/processes/databases.js";
import { memoryAdapter } from "./over/memory-adapter.js";

/** The numbers of the newest thousand. */
const newest = Array.from({ length: 1000 }, (_, n) => 1002 + n);

/** Stores 1,002 events and webhooks of one clientId. Returns the numbers of those in its history. */
async function shownOf<Tx>(store: PaymentStore<Tx>) {
  const numbers = Array.from({ length: 1002 }, (_, n) => 1000 + n);
  const timeOf = (n: number) => new Date(Date.UTC(2026, 10, 20, 10) + n).toISOString();
  await store.registerHandlers([{ event: "*", name: "any" }]);
  for (let at = 0; at < numbers.length; at += 100) {
    const some = numbers.slice(at, at + 100);
    await store.transaction((tx) =>
      store.save(tx, {
        events: some.map((n) => event(`e${n}`, { clientId: "p1", recordedAt: timeOf(n) })),
        webhooks: some.map((n) =>
          webhook(`r${n}`, { receiptId: `r${n}`, clientId: "p1", receivedAt: timeOf(n) }),
        ),
      }),
    );
    await store.claim({ handlers: [{ event: "*", name: "any" }], limit: 200, leaseMs: 60_000 });
  }
  const { events, webhooks, dispatches } = await store.history("p1");
  const numberOf = (id: string) => Number(id.slice(1));
  return {
    events: events.map(({ id }) => numberOf(id)),
    webhooks: webhooks.map(({ receiptId }) => numberOf(receiptId)),
    dispatches: dispatches.map(({ eventId }) => numberOf(eventId)),
  };
}

const expected = { events: newest, webhooks: newest, dispatches: newest };

describe("the history of a payment with more than 1,000 records", () => {
  it("has the newest ones in a MemoryStore", async () => {
    expect(await shownOf(new MemoryStore())).toEqual(expected);
  });

  it("has the newest ones in a storeOver", async () => {
    expect(await shownOf(storeOver(memoryAdapter()))).toEqual(expected);
  });

  onEachDatabase("long histories", (kind) => {
    let place: Place;
    beforeEach(async () => {
      place = await openPlace(kind);
    });
    afterEach(() => place.remove());

    it("has the newest ones", async () => {
      expect(await shownOf(place.store)).toEqual(expected);
    });
  });
});
