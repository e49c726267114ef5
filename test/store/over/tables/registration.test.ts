import { storeOver, type StoredRecord } from "tillkit";
import { memoryAdapter } from "../memory-adapter.js";

const handlers = [{ event: "payment.overdue", name: "ledger", since: "2026-03-01T09:00:00.000Z" }] as const;

it("an event that was saved while a forgotten handler was registered gets its dispatch with the next registration", async () => {
  const adapter = memoryAdapter(new Map<string, StoredRecord>());
  let onWrite: (() => Promise<void>) | undefined;
  const store = storeOver({
    ...adapter,
    async write(changes, tx) {
      const meanwhile = onWrite;
      onWrite = undefined;
      await meanwhile?.();
      return adapter.write(changes, tx);
    },
  });
  const event = {
    id: "e1",
    type: "payment.overdue",
    recordedAt: "2026-03-01T10:00:00.000Z",
    payload: {},
  } as const;
  // The transaction of the event has read the handlers already, and commits after the registration.
  onWrite = () => store.registerHandlers(handlers);
  await store.transaction((tx) => store.save(tx, { events: [event] }));
  expect(await store.claim({ handlers, limit: 10, leaseMs: 1000 })).toEqual([]);
  await store.registerHandlers(handlers);
  expect(await store.claim({ handlers, limit: 10, leaseMs: 1000 })).toMatchObject([{ event: { id: "e1" } }]);
  await store.registerHandlers(handlers);
  expect(await store.claim({ handlers, limit: 10, leaseMs: 1000 })).toEqual([]);
});
