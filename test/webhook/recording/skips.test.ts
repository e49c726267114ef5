import path from "node:path";
import { storeOver } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { Skips } from "../../../src/webhook/recording/skips.js";
import { memoryAdapter, type MemoryTransaction } from "../../store/over/memory-adapter.js";
import { temporaryFiles } from "../../store/sql/support/temporary-files.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { onEachServer, openPlace, openStore } from "../../promises/processes/databases.js";
import { until } from "../../promises/processes/members.js";
import { openSpool } from "../../../src/webhook/spool/spool.js";
import { spooledOf } from "./keepers.js";

const nextFile = temporaryFiles();
afterEach(closeAll);

const named = (receiptId: string) => ({ receiptId });

describe("the webhooks that a drain skips", () => {
  /** Skips ten webhooks, and is stopped by another one. */
  function stop(skips: Skips, from: number): void {
    for (let n = from; n < from + 10; n++) expect(skips.add(`r-${n}`)).toBe(false);
    expect(skips.add(`r-${from + 10}`)).toBe(true);
  }

  it("are passed by the next drain if they stopped the last one, and by the one after it if others stop it", () => {
    const skips = new Skips();
    stop(skips, 0);
    skips.start();
    expect([named("r-0"), named("r-10"), named("r-11")].map((one) => skips.isPassed(one))).toEqual([
      true,
      true,
      false,
    ]);
    stop(skips, 11);
    skips.noteRecorded("r-new");
    skips.start();
    expect([skips.isPassed(named("r-0")), skips.isPassed(named("r-21"))]).toEqual([true, true]);
  });

  it("are tried again after a drain that they did not stop", () => {
    const skips = new Skips();
    skips.add("r-0");
    skips.start();
    expect(skips.isPassed(named("r-0"))).toBe(false);
    stop(skips, 0);
    skips.start();
    skips.start();
    expect(skips.isPassed(named("r-0"))).toBe(false);
  });

  it("are recorded without a group by the next drain, and not by the one after it", () => {
    const skips = new Skips();
    skips.add("r-0");
    skips.start();
    expect([named("r-0"), named("r-1")].map((one) => skips.isSuspect(one))).toEqual([true, false]);
    skips.start();
    expect(skips.isSuspect(named("r-0"))).toBe(false);
    stop(skips, 0);
    skips.start();
    expect(skips.isSuspect(named("r-10"))).toBe(true);
  });

  it("are tried one by one if the store did not record them in time, and all after it recorded one", () => {
    const skips = new Skips();
    const ids = ["r-1", "r-2", "r-3"];
    const passed = () => ids.filter((receiptId) => skips.isPassed({ receiptId }));
    for (const id of ids) skips.addSlow(id, new Error(id));
    for (const others of [
      ["r-2", "r-3"],
      ["r-1", "r-3"],
      ["r-1", "r-2"],
      ["r-2", "r-3"],
    ]) {
      skips.start();
      expect(passed()).toEqual(others);
    }
    skips.noteRecorded("r-0");
    expect(passed()).toEqual(["r-2", "r-3"]);
    skips.noteRecorded("r-1");
    expect(passed()).toEqual([]);
    skips.addSlow("r-3", new Error("locked"));
    expect(skips.errorOf({ receiptId: "r-3" })).toEqual(new Error("locked"));
    expect(passed()).toEqual(["r-2", "r-3"]);
    skips.start();
    expect(passed()).toEqual(["r-3"]);
  });

  it("are recorded without a group if the store did not record them in time, also by the drain that tries them", () => {
    const skips = new Skips();
    for (const id of ["r-1", "r-2"]) {
      skips.add(id);
      skips.addSlow(id, new Error("locked"));
    }
    for (let drains = 0; drains < 3; drains++) {
      skips.start();
      const tried = drains % 2 === 0 ? "r-1" : "r-2";
      expect(skips.isPassed(named(tried))).toBe(false);
      expect([named("r-1"), named("r-2")].map((one) => skips.isSuspect(one))).toEqual([true, true]);
      skips.add(tried);
      skips.addSlow(tried, new Error("locked"));
    }
  });

  it("do not stop a drain if one was recorded between them", () => {
    const skips = new Skips();
    for (let n = 0; n < 10; n++) skips.add(`r-${n}`);
    skips.noteRecorded("r-new");
    expect(skips.add("r-10")).toBe(false);
  });
});

it.each([
  ["the database", new Error("refused")],
  ["the adapter", new RangeError("the item is too large")],
])("twelve webhooks that %s always refuses do not block the webhooks behind them", async (_, refusal) => {
  const adapter = memoryAdapter();
  let isDown = true;
  const store = storeOver<MemoryTransaction>({
    ...adapter,
    write: async (changes, tx) => {
      if (isDown || changes.some(({ value }) => value?.includes("bad-"))) throw refusal;
      return adapter.write(changes, tx);
    },
  });
  const spool = { directory: `${nextFile()}-spool` };
  const payments = testKit<never, MemoryTransaction>({ store, spool, dispatch: { pollMs: 50 } });
  const ids = [...Array.from({ length: 12 }, (_, n) => `bad-${n}`), "good"];
  for (const id of ids) await payments.receiveWebhook(signed(completedBody({ clientId: id, id: `s-${id}` })));
  isDown = false;
  await payments.start();
  const isRecorded = async () => (await store.webhooks({ clientId: "good", limit: 1 })).length > 0;
  await until(isRecorded, "the webhook behind the refused ones is recorded", 60_000);
  expect(await payments.health()).toMatchObject({ spool: { setAside: 0 } });
});

onEachServer("a locked payment", (kind) => {
  it("a payment that another transaction locks does not block the spooled webhooks of others", async () => {
    const place = await openPlace(kind);
    const { store, folder, address } = place;
    const directory = path.join(folder, "spool");
    const spool = openSpool({ directory, maxBytes: 2 ** 20 });
    for (const id of ["locked", "free"]) {
      const { rawBody } = signed(completedBody({ clientId: id, id: `s-${id}` }));
      await spool.append({ ...spooledOf(`r-${id}`), rawBody });
      const payment = pendingPayment({ clientId: id, reference: id, serviceId: `s-${id}` });
      await store.transaction((tx) => store.save(tx, { created: [payment] }));
    }
    await spool.close();
    let unlock = (): void => {};
    const held = new Promise<void>((resolve) => (unlock = resolve));
    let isLocked = (): void => {};
    const locked = new Promise<void>((resolve) => (isLocked = resolve));
    const locking = store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["locked"] });
      isLocked();
      await held;
    });
    await locked;

    const payments = testKit<never, SqlTx>({
      store: openStore(address),
      spool: { directory },
      dispatch: { pollMs: 50 },
      webhook: { recordTimeoutMs: 500 },
    });
    await payments.start({ keepAlive: false });
    const isPaid = async (id: string) => (await payments.find(id))?.state === "completed";
    await until(() => isPaid("free"), "the webhook behind the locked payment is recorded");
    const tellsWhy = async () =>
      (await payments.health()).reasons.some(({ message }) =>
        /webhooks wait in the spool: The store did not commit/.test(message),
      );
    await until(tellsWhy, "the health tells why the other one waits");
    unlock();
    await locking;
    await until(() => isPaid("locked"), "the other one is recorded when its payment is free");
    expect((await payments.health()).spool).toMatchObject({ setAside: 0 });
    await closeAll();
    await place.remove();
  });
});
