import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { MemoryStore, type NoticeMap, TillkitError } from "tillkit";
import { indispensableFields } from "../../src/model/signed-fields.js";
import { createIntake, type IntakeOptions } from "../../src/webhook/intake.js";
import { readMessage } from "../../src/webhook/message/read-message.js";
import { type Arrival } from "../../src/webhook/recording/arrival.js";
import { completedBody, pendingPayment } from "../support/webhooks.js";

const receivedAt = "2026-11-20T10:00:05.000Z";
const away = new TillkitError("store_unavailable", "The database is restarting.");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tillkit-intake-"));
});
afterEach(() => {
  jest.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes an intake over a store in memory, with what it noticed. */
function intakeOf(store: MemoryStore, options: Partial<IntakeOptions> = {}, clientIdPrefix?: string) {
  let ids = 0;
  const notices: { [Type in keyof NoticeMap]?: unknown }[] = [];
  const intake = createIntake(
    {
      store,
      now: () => new Date("2026-11-20T10:00:06.000Z"),
      newId: () => `id-${++ids}`,
      policy: { clientIdPrefix, confirms: true },
      maxGroup: 100,
      ready: () => Promise.resolve(),
      announceEvents: () => undefined,
      notify: (type, notice) => void notices.push({ [type]: notice }),
    },
    { recordTimeoutMs: 60_000, drainMs: 10, spool: undefined, ...options },
  );
  return { intake, notices };
}

function arrivalOf(receiptId: string, data: object = {}, covers: Arrival["covers"] = "body"): Arrival {
  const rawBody = Buffer.from(JSON.stringify(completedBody({ ...data })));
  return { receiptId, rawBody, covers, receivedAt, message: readMessage({ rawBody, covers }) };
}

async function seeded(...created: ReturnType<typeof pendingPayment>[]) {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created }));
  return store;
}

describe("the intake", () => {
  it("tells every listener which payments wait for a lookup: those whose completion only a lookup can confirm", async () => {
    const { intake } = intakeOf(await seeded(pendingPayment()));
    const waiting: string[] = [];
    intake.onUnconfirmed((clientId) => waiting.push(clientId));
    intake.onUnconfirmed((clientId) => waiting.push(`also ${clientId}`));
    const stranger = await intake.keeper.keep(arrivalOf("r-1", { clientId: "c-2", id: "s-2" }));
    expect([stranger.outcome, waiting]).toEqual(["unmatched", []]);
    const unconfirmed = await intake.keeper.keep(arrivalOf("r-2", {}, indispensableFields));
    expect([unconfirmed.outcome, waiting]).toEqual(["unconfirmed", ["c-1", "also c-1"]]);
    await intake.keeper.close();
  });

  it("counts the webhooks that were verified, and those of other shops, but no answers to lookups", async () => {
    const { intake } = intakeOf(await seeded(pendingPayment({ clientId: "shop-1" })), {}, "shop-");
    expect([intake.keeper.verified, intake.foreign()]).toEqual([0, 0]);
    await intake.keeper.keep(arrivalOf("r-1", { clientId: "shop-1" }));
    await intake.keeper.keep(arrivalOf("r-2"));
    await intake.recorder.record({
      ...arrivalOf("r-3", { clientId: "shop-1", providerId: "x" }),
      kind: "lookup",
    });
    expect([intake.keeper.verified, intake.foreign()]).toEqual([2, 1]);
    await intake.keeper.keep(arrivalOf("r-4", { id: "s-2" }));
    expect([intake.keeper.verified, intake.foreign()]).toEqual([3, 2]);
    await intake.keeper.close();
  });

  it("matches what it recorded while its payment was being stored", async () => {
    const store = new MemoryStore();
    const { intake } = intakeOf(store);
    const record = store.record.bind(store);
    store.record = async (keys, decide) => {
      const isRecorded = await record(keys, decide);
      await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
      return isRecorded;
    };
    expect(await intake.keeper.keep(arrivalOf("r-1"))).toMatchObject({ outcome: "unmatched" });
    await intake.recorder.matched();
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    await intake.keeper.close();
  });

  it("refuses a webhook that the store cannot take, tells so, and tries it again for the health", async () => {
    const store = await seeded(pendingPayment());
    const { intake, notices } = intakeOf(store);
    expect([intake.spool, intake.recorder.isStuck(), intake.keeper.keeping]).toEqual([undefined, false, {}]);
    const record = store.record.bind(store);
    store.record = () => Promise.reject(away);
    await expect(intake.keeper.keep(arrivalOf("r-1"))).rejects.toMatchObject({ code: "record_unavailable" });
    expect(intake.keeper.keeping).toMatchObject({ refused: "store" });
    expect(notices).toMatchObject([{ "store.unavailable": {} }]);
    store.record = record;
    await intake.keeper.retryRefused();
    expect(intake.keeper.keeping).toEqual({});
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    await intake.keeper.close();
  });

  it("does not spool the answer to a lookup: the kit asks again", async () => {
    const store = await seeded(pendingPayment());
    const { intake } = intakeOf(store, {
      spool: { directory: path.join(folder, "spool"), maxBytes: 100_000 },
    });
    store.record = () => Promise.reject(away);
    store.transaction = () => Promise.reject(away);
    await expect(intake.recorder.record({ ...arrivalOf("r-1"), kind: "lookup" })).rejects.toBe(away);
    expect(await intake.spool!.stats()).toMatchObject({ records: 0 });
    await intake.keeper.close();
  });

  it("is stuck while three commits hang, and then refuses without waiting", async () => {
    jest.useFakeTimers({ doNotFake: ["Date", "hrtime", "nextTick", "queueMicrotask", "setImmediate"] });
    const store = await seeded(pendingPayment());
    const { intake } = intakeOf(store, { recordTimeoutMs: 700 });
    const hanging: ((isRecorded: boolean) => void)[] = [];
    store.record = () => new Promise((resolve) => hanging.push(resolve));
    for (const [index, receiptId] of ["r-1", "r-2", "r-3"].entries()) {
      expect(intake.recorder.isStuck()).toBe(false);
      const kept = Promise.allSettled([intake.keeper.keep(arrivalOf(receiptId))]);
      while (hanging.length === index) await new Promise(setImmediate);
      jest.advanceTimersByTime(700);
      expect(await kept).toMatchObject([{ reason: { code: "record_unavailable" } }]);
    }
    expect(intake.recorder.isStuck()).toBe(true);
  });

  it("tells which file of the spool it set aside, and why", async () => {
    const directory = path.join(folder, "spool");
    mkdirSync(directory, { mode: 0o700 });
    const planted = path.join(directory, "planted.spool");
    writeFileSync(planted, "1 2 no webhook\n", { mode: 0o600 });
    utimesSync(planted, 0, 0);
    const { intake, notices } = intakeOf(await seeded(), { spool: { directory, maxBytes: 100_000 } });
    intake.keeper.start();
    while ((await intake.spool!.stats()).setAside === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    await intake.keeper.close();
    expect(notices).toEqual([
      {
        "webhook.set_aside": {
          reason: expect.stringMatching(/^Line 1 of .* was set aside: /) as string,
          file: expect.stringContaining("set-aside") as string,
        },
      },
    ]);
  });

  it("tells at its start that its spool cannot be used: the directory is that of a volume", async () => {
    const directory = path.join(folder, "volume");
    mkdirSync(directory);
    chmodSync(directory, 0o777);
    const { intake, notices } = intakeOf(await seeded(), { spool: { directory, maxBytes: 100_000 } });
    intake.keeper.start();
    while (notices.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await intake.keeper.close();
    expect(notices).toMatchObject([{ "spool.unavailable": { error: { code: "path_exposed" } } }]);
  });

  it("tells which payments wait for a lookup also of webhooks that it records from the spool in a group", async () => {
    const others = ["c-2", "c-3"].map((clientId) => ({ clientId, id: `s-${clientId}` }));
    const store = await seeded(
      ...others.map(({ clientId, id }) =>
        pendingPayment({ clientId, serviceId: id, reference: `order-${clientId}` }),
      ),
    );
    const groups: unknown[] = [];
    const spool = { directory: path.join(folder, "spool"), maxBytes: 100_000 };
    const { intake } = intakeOf(store, { spool, onRecorded: (receipts) => groups.push(receipts.length) });
    const waiting: string[] = [];
    intake.onUnconfirmed((clientId) => waiting.push(clientId));
    const record = store.record.bind(store);
    store.record = () => Promise.reject(away);
    for (const data of others) await intake.keeper.keep(arrivalOf(data.clientId, data, indispensableFields));
    store.record = record;
    expect(waiting).toEqual([]);
    intake.keeper.start();
    while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await intake.keeper.close();
    expect([waiting, groups]).toEqual([["c-2", "c-3"], [2]]);
  });

  it("binds its spool to the store", async () => {
    const spool = { directory: path.join(folder, "spool"), maxBytes: 100_000 };
    const { intake } = intakeOf(await seeded(), { spool, identify: async () => "store-1" });
    expect(await intake.spool!.tie.read()).toEqual({ store: "store-1" });
    await intake.keeper.close();
  });

  it.each([
    ["begin no transaction", "transaction"],
    ["save nothing", "save"],
  ] as const)("gives up no spooled webhook while the store can %s", async (_, method) => {
    const store = await seeded(pendingPayment());
    const { intake, notices } = intakeOf(store, {
      spool: { directory: path.join(folder, "spool"), maxBytes: 100_000 },
    });
    const [record, working] = [store.record.bind(store), store[method].bind(store)];
    const refused = new Error("connect ECONNREFUSED");
    const triedOften = new Promise<void>((resolve) => {
      let tries = 0;
      store.record = () => {
        if ((tries += 1) > 6) resolve();
        return Promise.reject(refused);
      };
    });
    store[method] = () => Promise.reject(refused);
    expect(await intake.keeper.keep(arrivalOf("r-1"))).toMatchObject({ outcome: "spooled" });
    intake.keeper.start();
    await triedOften;
    Object.assign(store, { record, [method]: working });
    while ((await intake.spool!.stats()).records > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    expect(notices.flatMap(Object.keys)).not.toContain("webhook.set_aside");
    await intake.keeper.close();
  });
});
