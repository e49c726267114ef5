import { storeOver, type StoredRecord } from "tillkit";
import { event, ledger, mailer } from "../../../../src/store/exam/checks/fixtures.js";
import { claimed, pairs, saved, settled } from "../../../../src/store/exam/checks/steps.js";
import { memoryAdapter } from "../memory-adapter.js";

const since = "2024-05-01T10:00:00.000Z";
const page = { before: "2999-01-01T00:00:00.000Z", limit: 10 };
const forgotten = [{ ...mailer, since }];

afterEach(() => jest.restoreAllMocks());

describe("an event that gets a dispatch of a forgotten handler later", () => {
  it("keeps the dispatches that it had, and is not pruned while one of them waits", async () => {
    const store = storeOver(memoryAdapter());
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1", { clientId: "p1" })] });
    await store.registerHandlers(forgotten);
    const [mail] = await claimed(store, [mailer]);
    await settled(store, mail!, { state: "done" });
    expect(await store.prune(page)).toMatchObject({ events: 0 });
    const { dispatches } = await store.history("p1");
    expect(dispatches.map(({ handler, state }) => `${handler} ${state}`)).toEqual([
      "ledger pending",
      "mailer done",
    ]);
  });

  it("is not pruned by a process that found it before", async () => {
    const records = new Map<string, StoredRecord>();
    const store = storeOver(memoryAdapter(records));
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1")] });
    const [claim] = await claimed(store, [ledger]);
    await settled(store, claim!, { state: "done" });
    const adapter = memoryAdapter(records);
    let isFound = false;
    const slow = storeOver({
      ...adapter,
      async read(keys, tx) {
        const found = await adapter.read(keys, tx);
        // The process has found the event with its one dispatch, which is done.
        if (keys.some((key) => key.startsWith("dispatches/")) && !isFound) {
          isFound = true;
          await store.registerHandlers(forgotten);
        }
        return found;
      },
    });
    expect(await slow.prune(page)).toMatchObject({ events: 0 });
    expect(pairs(await claimed(store, [mailer]))).toEqual(["e1 mailer"]);
  });
});

it("a prune that goes on does not read the events again that it left", async () => {
  const records = new Map<string, StoredRecord>();
  const adapter = memoryAdapter(records);
  const read: string[] = [];
  const store = storeOver({ ...adapter, read: (keys, tx) => (read.push(...keys), adapter.read(keys, tx)) });
  await store.registerHandlers([ledger, mailer]);
  const at = (minute: number) => ({ recordedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString() });
  await saved(store, { events: ["waits", "e1", "e2"].map((id, index) => event(id, at(index))) });
  for (const claim of await claimed(store, [ledger, mailer]))
    if (claim.event.id !== "waits") await settled(store, claim, { state: "done" });
  const first = await store.prune({ ...page, limit: 1 });
  expect(first).toMatchObject({ events: 1 });
  read.length = 0;
  const next = await store.prune({ ...page, limit: 1, after: first.after! });
  expect(next).toMatchObject({ events: 1 });
  expect(read).toContain("events/e2");
  expect(read).not.toContain("events/waits");
  const last = await store.prune({ ...page, limit: 1, after: next.after! });
  expect(last).toMatchObject({ events: 0 });
  expect(await store.prune({ ...page, limit: 1, after: last.after! })).toMatchObject({ events: 0 });
  // A new prune begins with the oldest event.
  await store.prune(page);
  expect(read).toContain("events/waits");
});

it("an event that is pruned leaves nothing behind", async () => {
  const records = new Map<string, StoredRecord>();
  const store = storeOver(memoryAdapter(records));
  await store.registerHandlers([ledger, mailer]);
  const before = [...records.keys()].filter((key) => key !== "registrations");
  await saved(store, { events: [event("e1", { clientId: "p1" })] });
  for (const claim of await claimed(store, [ledger, mailer])) await settled(store, claim, { state: "done" });
  expect(await store.prune(page)).toMatchObject({ events: 1 });
  expect([...records.keys()].filter((key) => key !== "registrations")).toEqual(before);
});

it("a forgotten handler gets the events since its first registration although the process that registered it ended", async () => {
  let time = 0;
  jest.spyOn(performance, "now").mockImplementation(() => time);
  const adapter = memoryAdapter();
  const store = storeOver(adapter);
  let isEnding = false;
  const ending = storeOver({
    ...adapter,
    async write(changes, tx) {
      // An event comes after the first search for events, and the process ends with its registration.
      if (!changes.some(({ key }) => key === "handlers")) return adapter.write(changes, tx);
      isEnding = true;
      return adapter.write(changes, tx);
    },
    async scan(range, tx) {
      if (isEnding) throw new Error("The process has ended.");
      const found = await adapter.scan(range, tx);
      if (!range.reverse) await saved(store, { events: [event("e1")] });
      return found;
    },
  });
  await expect(ending.registerHandlers(forgotten)).rejects.toMatchObject({ code: "store_unavailable" });
  await store.registerHandlers(forgotten);
  time += 10_000;
  await store.registerHandlers(forgotten);
  expect(pairs(await claimed(store, [mailer]))).toEqual(["e1 mailer"]);
});
