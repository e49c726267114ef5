import { storeOver, type StoredRecord } from "tillkit";
import { memoryAdapter } from "../memory-adapter.js";

const event = {
  id: "e1",
  type: "payment.overdue",
  recordedAt: "2026-03-01T10:00:00.000Z",
  payload: {},
} as const;
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
  // The transaction of the event has read the handlers already, and commits after the registration.
  onWrite = () => store.registerHandlers(handlers);
  await store.transaction((tx) => store.save(tx, { events: [event] }));
  expect(await store.claim({ handlers, limit: 10, leaseMs: 1000 })).toEqual([]);
  await store.registerHandlers(handlers);
  expect(await store.claim({ handlers, limit: 10, leaseMs: 1000 })).toMatchObject([{ event: { id: "e1" } }]);
  await store.registerHandlers(handlers);
  expect(await store.claim({ handlers, limit: 10, leaseMs: 1000 })).toEqual([]);
});

it("a missing dispatch that another process makes after the event was read is made once", async () => {
  const adapter = memoryAdapter(new Map<string, StoredRecord>());
  const another = storeOver(adapter);
  await another.transaction((tx) => another.save(tx, { events: [event] }));
  let isBehind = false;
  const store = storeOver(
    {
      ...adapter,
      async read(keys, tx) {
        const found = await adapter.read(keys, tx);
        if (!isBehind && keys.includes("events/e1")) {
          isBehind = true;
          await another.registerHandlers(handlers);
        }
        return found;
      },
    },
    { busyTimeoutMs: 0 },
  );
  await store.registerHandlers(handlers);
  expect(isBehind).toBe(true);
  expect(await store.claim({ handlers, limit: 10, leaseMs: 1000 })).toMatchObject([{ fence: 1 }]);
});

it("a forgotten handler gets the events since its first registration, also those of a clock that is behind", async () => {
  const records = new Map<string, StoredRecord>();
  const store = storeOver(memoryAdapter(records));
  const save = (id: string, recordedAt: string) =>
    store.transaction((tx) => store.save(tx, { events: [{ ...event, id, recordedAt }] }));
  await save("before", event.recordedAt);
  await store.registerHandlers(handlers.map(({ since: _, ...handler }) => handler));
  records.delete("handlers");
  await save("after", "2026-03-01T08:00:00.000Z");
  for (let call = 0; call < 2; call++) await store.registerHandlers(handlers);
  const claims = await store.claim({ handlers, limit: 10, leaseMs: 1000 });
  expect(claims.map(({ event: { id } }) => id)).toEqual(["after"]);
});

it("a new handler gets none of the events before it, also where these are more than a registration notes", async () => {
  const added = [{ event: "payment.overdue", name: "mail" }] as const;
  const store = storeOver(memoryAdapter());
  const events = Array.from({ length: 1100 }, (_, index) => ({ ...event, id: `e${index}` }));
  for (let at = 0; at < events.length; at += 100)
    await store.transaction((tx) => store.save(tx, { events: events.slice(at, at + 100) }));
  for (let call = 0; call < 2; call++) await store.registerHandlers(added);
  expect(await store.claim({ handlers: added, limit: 10, leaseMs: 1000 })).toEqual([]);
});

it("two processes that register the same handlers at the same time register each of them once", async () => {
  const records = new Map<string, StoredRecord>();
  const added = ["mail", "books"].map((name) => ({ event: "payment.overdue", name }) as const);
  const [first, second] = [0, 1].map(() => storeOver(memoryAdapter(records)));
  await Promise.all([first!.registerHandlers(added), second!.registerHandlers(added.slice(1))]);
  expect(await first!.handlers()).toMatchObject([
    { name: "books", events: ["payment.overdue"] },
    { name: "mail", events: ["payment.overdue"] },
  ]);
});

describe("after the process that registered a new handler has ended", () => {
  const added = [{ event: "payment.overdue", name: "mail" }] as const;
  const claiming = { handlers: added, limit: 10, leaseMs: 1000 };
  const records = new Map<string, StoredRecord>();
  const adapter = memoryAdapter(records);
  let time = 0;
  beforeEach(async () => {
    records.clear();
    jest.spyOn(performance, "now").mockImplementation(() => time);
    // The transaction of the event has read the handlers already, and commits after the registration.
    const ending = storeOver(adapter);
    const write: typeof adapter.write = async (changes, tx) => {
      await ending.registerHandlers(added);
      return adapter.write(changes, tx);
    };
    const saving = storeOver({ ...adapter, write });
    await saving.transaction((tx) => saving.save(tx, { events: [event] }));
  });
  afterEach(() => jest.restoreAllMocks());

  it("another process gives it the event that was saved meanwhile, and then forgets the registration", async () => {
    const store = storeOver(adapter);
    await store.registerHandlers(added);
    expect(await store.claim(claiming)).toEqual([]);
    time += 10_000;
    await store.registerHandlers(added);
    expect(await store.claim(claiming)).toMatchObject([{ event: { id: "e1" } }]);
    time += 50_000;
    await store.registerHandlers(added);
    expect(records.has("registrations")).toBe(false);
  });

  it("gives it also an event whose transaction took 40 seconds", async () => {
    records.clear();
    const store = storeOver(adapter);
    const registerAndWait = async () => {
      await store.registerHandlers(added);
      time += 10_000;
    };
    const write: typeof adapter.write = async (changes, tx) => {
      for (let i = 0; i < 4; i++) await registerAndWait();
      return adapter.write(changes, tx);
    };
    const saving = storeOver({ ...adapter, write });
    await saving.transaction((tx) => saving.save(tx, { events: [event] }));
    expect(await store.claim(claiming)).toEqual([]);
    await registerAndWait();
    expect(await store.claim(claiming)).toMatchObject([{ event: { id: "e1" } }]);
  });

  it("keeps the registration while a transaction may be open that had read the handlers before", async () => {
    const store = storeOver(adapter);
    for (const ms of [0, 1, 58_997]) {
      time += ms;
      await store.registerHandlers(added);
    }
    expect(records.has("registrations")).toBe(true);
  });

  it("gives a name that is retired and registered again no event from before", async () => {
    const store = storeOver(adapter);
    await store.retire({ handler: "mail", limit: 10 });
    await store.registerHandlers(added);
    time += 10_000;
    await store.registerHandlers(added);
    expect(await store.claim(claiming)).toEqual([]);
  });

  it("gives a name that is retired and not registered again no event", async () => {
    const store = storeOver(adapter);
    await store.registerHandlers(added);
    await store.retire({ handler: "mail", limit: 10 });
    time += 10_000;
    await store.registerHandlers([]);
    expect(await store.claim(claiming)).toEqual([]);
  });

  it("keeps every later registration when it forgets an earlier one", async () => {
    const store = storeOver(adapter);
    const later = [{ event: "payment.overdue", name: "books" }] as const;
    const namesOf = () => {
      const pending = JSON.parse(records.get("registrations")!.value) as { handlers: { name: string }[] }[];
      return pending.flatMap((one) => one.handlers.map(({ name }) => name));
    };
    await store.registerHandlers(added);
    time += 30_000;
    await store.registerHandlers(later);
    expect(namesOf()).toEqual(["mail", "books"]);
    time += 30_000;
    await store.registerHandlers(later);
    expect(namesOf()).toEqual(["books"]);
  });
});
