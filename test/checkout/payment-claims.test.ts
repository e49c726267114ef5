import { MemoryStore, storeOver, TillkitError } from "tillkit";
import {
  closeClaims,
  countClaims,
  findClaimed,
  keepClaim,
  notesOfNumber,
  openClaims,
  readClaimNumber,
  readClaims,
} from "../../src/checkout/payment-claims.js";
import { onEachDatabase, openStore } from "../promises/processes/databases.js";
import { memoryAdapter } from "../store/over/memory-adapter.js";
import { pendingPayment } from "../support/webhooks.js";
import { shopBench } from "../operations/shop-bench.js";

const at = "2026-11-20T10:05:00.000Z";
const numbersOf = async (store: MemoryStore, clientId: string) =>
  (await readClaims(store, clientId)).map(({ number }) => number);

/** Returns the clientIds that a number leads to. */
async function claimants(store: Parameters<typeof findClaimed>[0], number: string): Promise<string[]> {
  return (await findClaimed(store, [number]))(number).map(({ clientId }) => clientId);
}

const own = (clientId: string) => pendingPayment({ clientId });

const payments = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    pendingPayment({ clientId: `c-${index}`, serviceId: `s-${index}`, reference: `order-${index}` }),
  );

async function storeWith(count = 1): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: payments(count) }));
  return store;
}

describe("the number of a claim", () => {
  it.each([
    ["MVK-778", "MVK-778"],
    ["  pp 2405.1432.B12345\t", "pp 2405.1432.B12345"],
    ["CI240515/1432#B_1:2", "CI240515/1432#B_1:2"],
    ["1234", "1234"],
    ["A".repeat(40), "A".repeat(40)],
  ])("is taken as the customer wrote it, without spaces at its ends: %s", (text, number) => {
    expect(readClaimNumber(text)).toBe(number);
  });

  it.each([
    ["nothing", undefined],
    ["an empty text", ""],
    ["three characters", "123"],
    ["signs without digits", "- / - / -"],
    ["41 characters", "A".repeat(41)],
    ["markup", "<b>1234</b>"],
    ["a quote", 'MVK"778'],
    ["a formula", "=MVK778+1"],
    ["a control character", "MVK\u0000778"],
    ["a direction mark", "MVK\u202e778"],
    ["other letters", "МВК-778"],
    ["half of a surrogate pair", "MVK-778\ud800"],
    ["a list", ["1234"]],
    ["much", "1".repeat(100_000)],
  ])("is not taken if it is %s", (_, text) => {
    expect(readClaimNumber(text)).toBeUndefined();
  });
});

describe("a claim", () => {
  it("is kept at its payment, the last three of them, and a repeated number once", async () => {
    const store = await storeWith();
    for (const number of ["MVK-1001", "MVK-1002", "mvk 1002", "MVK-1003", "MVK-1004"])
      await keepClaim(store, own("c-0"), { number, at });
    expect(await numbersOf(store, "c-0")).toEqual(["MVK-1002", "MVK-1003", "MVK-1004"]);
  });

  it("leads from its number to the payment, in any spelling, and no longer once it is dropped", async () => {
    const store = await storeWith(2);
    for (const number of ["MVK-1001", "MVK-1002", "MVK-1003"])
      await keepClaim(store, own("c-0"), { number, at });
    await keepClaim(store, own("c-1"), { number: "mvk1001", at });
    expect(await claimants(store, "MVK 1001")).toEqual(["c-0", "c-1"]);
    await keepClaim(store, own("c-0"), { number: "MVK-1004", at });
    expect(await claimants(store, "MVK-1001")).toEqual(["c-1"]);
    expect(await claimants(store, "mvk-1004")).toEqual(["c-0"]);
    expect(await claimants(store, "1")).toEqual([]);
  });

  it("leads to at most 20 payments, and ten thousand numbers of one payment leave three notes", async () => {
    const store = await storeWith(25);
    for (let index = 0; index < 25; index++)
      await keepClaim(store, own(`c-${index}`), { number: "MVK-1", at });
    expect(await claimants(store, "MVK-1")).toHaveLength(20);
    for (let index = 0; index < 10_000; index++)
      await keepClaim(store, own("c-0"), { number: `GUESS-${index}`, at });
    const kept = await store.notes({ kind: "claimed" });
    expect(kept.map(({ id }) => id)).toEqual(["GUESS9997", "GUESS9998", "GUESS9999", "MVK1"]);
  });

  it("is kept by a store over an adapter as well", async () => {
    const store = storeOver(memoryAdapter());
    await store.transaction((tx) => store.save(tx, { created: payments(1) }));
    await keepClaim(store, own("c-0"), { number: "MVK-1001", at });
    expect(await claimants(store, "mvk1001")).toEqual(["c-0"]);
    expect(await readClaims(store, "c-0")).toEqual([{ number: "MVK-1001", at }]);
  });
});

describe("claims that wait for an answer", () => {
  const later = "2026-11-20T11:00:00.000Z";
  const all = { limit: 10 };

  /** Returns a store in which the customers of this many payments gave a number each. */
  async function claimed(count: number) {
    const store = await storeWith(count);
    for (let index = 0; index < count; index++)
      await keepClaim(store, own(`c-${index}`), { number: `MVK-${1000 + index}`, at });
    const complete = (clientId: string) =>
      store.record({ clientIds: [clientId] }, ({ payments: [payment] }) => ({
        updated: [{ ...payment!, state: "completed" as const, open: false }],
      }));
    return { store, complete };
  }
  const clientIdsOf = (claims: Awaited<ReturnType<typeof openClaims>>) =>
    claims.map(({ payment }) => payment.clientId);

  it("have the time of the first one, and another version after each, which the settling person must have seen", async () => {
    const { store } = await claimed(1);
    const [first] = await openClaims(store, all);
    await keepClaim(store, own("c-0"), { number: "MVK-2000", at: later });
    const [second] = await openClaims(store, all);
    expect([first!.since, second!.since]).toEqual([at, at]);
    expect(second!.claims.map(({ number }) => number)).toEqual(["MVK-1000", "MVK-2000"]);
    expect(second!.note.version).toBeGreaterThan(first!.note.version);
    expect(await openClaims(store, { of: second!.payment, limit: 1 })).toEqual([second]);
  });

  it("are counted and closed page by page without those of completed payments", async () => {
    const { store, complete } = await claimed(5);
    for (const clientId of ["c-1", "c-3", "c-4"]) await complete(clientId);
    expect(await countClaims(store)).toBe(2);
    const first = await closeClaims(store, { limit: 2 });
    expect(clientIdsOf(await openClaims(store, all))).toEqual(["c-0", "c-2", "c-3", "c-4"]);
    const second = await closeClaims(store, { ...(first as { after: string }), limit: 2 });
    expect(await closeClaims(store, { ...(second as { after: string }), limit: 2 })).toEqual({});
    expect(clientIdsOf(await openClaims(store, all))).toEqual(["c-0", "c-2"]);
    expect(await countClaims(store)).toBe(2);
  });

  it("are closed by another process where that one was faster, and any other error is told", async () => {
    const { store, complete } = await claimed(1);
    await complete("c-0");
    for (const [code, outcome] of [
      ["store_conflict", "fulfilled"],
      ["store_unavailable", "rejected"],
    ] as const) {
      store.save = () => Promise.reject(new TillkitError(code, "No."));
      expect(await Promise.allSettled([closeClaims(store, all)])).toMatchObject([{ status: outcome }]);
    }
  });

  it("are saved again where another process changed a note meanwhile, and at most thirty times", async () => {
    const store = await storeWith();
    const save = store.save.bind(store);
    let conflicts = 0;
    store.save = (tx, changes) =>
      ++conflicts < 30 ? Promise.reject(new TillkitError("store_conflict", "No.")) : save(tx, changes);
    await keepClaim(store, own("c-0"), { number: "MVK-1001", at });
    expect([conflicts, await numbersOf(store, "c-0")]).toEqual([30, ["MVK-1001"]]);
    conflicts = -1;
    const next = keepClaim(store, own("c-0"), { number: "MVK-1002", at });
    await expect(next).rejects.toMatchObject({ code: "store_conflict" });
  });
});

it("a number that a person accepted leads to its payment, however many others claim it later", async () => {
  const store = await storeWith(30);
  const claim = (clientId: string) => keepClaim(store, own(clientId), { number: "MVK-1", at });
  await claim("c-0");
  const notes = await notesOfNumber(store, "c-1", "mvk 1");
  await store.transaction((tx) => store.save(tx, { notes }));
  for (let index = 2; index < 30; index++) await claim(`c-${index}`);
  const found = await claimants(store, "MVK-1");
  expect([found.length, found.includes("c-1")]).toEqual([20, true]);
  expect(await notesOfNumber(store, "c-1", "?")).toEqual([]);
});

it("the payments of many numbers are read up to 500, which one call of a store takes", async () => {
  const numbers = Array.from({ length: 30 }, (_, index) => `MVK-${1000 + index}`);
  const listed = (id: string) => Array.from({ length: 20 }, (_, index) => `${id}-${index}`);
  const notes = async ({ ids }: { ids: string[] }) =>
    ids.map((id) => ({ kind: "claimed", id, version: 1, value: { clientIds: listed(id) } }));
  const findMany = jest.fn(async (_: { clientIds: string[] }) => []);
  await findClaimed({ notes, findMany } as never, numbers);
  expect(findMany.mock.calls.map(([{ clientIds }]) => clientIds.length)).toEqual([500]);
});

onEachDatabase("claims of one payment and one number from two processes", (kind) => {
  const bench = shopBench(kind);

  it("are all kept, within their bounds, and none waits for another for ever", async () => {
    const [one, two] = [bench.place.store, openStore(bench.place.address)];
    await one.transaction((tx) => one.save(tx, { created: payments(4) }));
    const claims = ["c-0", "c-1", "c-2", "c-3"].flatMap((clientId, index) =>
      ["MVK-1001", "MVK-1002", "MVK-1003"].map((number, step) =>
        keepClaim((index + step) % 2 === 0 ? one : two, own(clientId), { number, at }),
      ),
    );
    await Promise.all(claims);
    for (const { clientId } of payments(4)) expect(await readClaims(one, clientId)).toHaveLength(3);
    for (const number of ["MVK-1001", "MVK-1002", "MVK-1003"])
      expect((await claimants(one, number)).toSorted()).toEqual(["c-0", "c-1", "c-2", "c-3"]);
    await two.close();
  });
});
