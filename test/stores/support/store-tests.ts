import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type PaymentStore } from "tillkit";
import * as tillkit from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { testStore } from "tillkit/testing";
import { buildKit } from "../../support/built-kit.js";
import { appOf, closeAll, serve, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";
import { type OpenedStore, type StoreAddress, type StoreModule } from "../modules/store-module.js";

const writers = 64;

/** The kills of one test. A long run sets more. */
const kills = Number(process.env["TILLKIT_TEST_KILLS"] ?? 6);

/** On a busy machine, many writers of one payment take longer than the default. */
const unhurried: typeof tillkit = {
  ...tillkit,
  storeOver: ((adapter: never) => tillkit.storeOver(adapter, { busyTimeoutMs: 150_000 })) as never,
};

/** Defines the tests that every store of an example passes: the exam, a purchase, writers of one payment, and kills. */
export function storeTests({ name, module, processes = 2, refuses = false }: StoreUnderTest): void {
  const file = path.resolve(__dirname, "../modules", module);
  const opened = new Map<PaymentStore, StoreAddress & OpenedStore<unknown>>();

  const open = async (address: StoreAddress) => {
    const { create } = (await import(file)) as StoreModule<unknown>;
    const store = { ...address, ...(await create(address, unhurried)) };
    opened.set(store.store, store);
    return store;
  };
  const openNew = async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-store-"));
    const store = await open({ folder, prefix: `t${randomBytes(6).toString("hex")}_` });
    await store.prepare?.();
    return store;
  };
  const remove = async (store: PaymentStore) => {
    const { remove: drop, folder } = opened.get(store)!;
    await drop?.();
    rmSync(folder, { recursive: true, force: true });
  };

  testStore({
    name,
    create: async () => {
      const { store, write, rows } = await openNew();
      const row = { client_id: "", reference: "", idempotency_key: "", attempt: 0 };
      const probe = {
        write: (tx: unknown, key: string) => write(tx, { ...row, event_id: key }),
        has: async (key: string) => (await rows()).some(({ event_id }) => event_id === key),
      };
      const refused = (tx: unknown) => write(tx, { ...row, event_id: "none", attempt: "no number" as never });
      return { store, probe: refuses ? { ...probe, refused } : probe };
    },
    ...(processes > 1 && { reopen: async (store) => (await open(opened.get(store)!)).store }),
    remove,
    test: it,
  });

  afterEach(closeAll);

  it(`${name}: a purchase commits the handler's order with its dispatch, and a failed run leaves none`, async () => {
    const { store, write, rows } = await openNew();
    const { payments, sandbox } = await shopOver(store);
    const [completed, complete] = signal<string>();
    payments.onPaymentCompleted(async ({ id, payment }, { tx, attempt, idempotencyKey }) => {
      const { clientId, reference } = payment;
      await write(tx, {
        client_id: clientId,
        reference,
        event_id: id,
        idempotency_key: idempotencyKey,
        attempt,
      });
      if (attempt === 1) throw new Error("The first run fails after its write.");
      complete(clientId);
    });
    const { checkoutUrl } = await payments.create({
      reference: "order-1",
      total: { value: "1475", currency: "KMF" },
    });
    await fetch(checkoutUrl, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ provider: "HOL", action: "approve" }),
    });
    const clientId = await completed;
    expect((await store.find(clientId))?.state).toBe("completed");
    await payments.close(); // It waits for the commit.
    expect(await rows()).toEqual([
      expect.objectContaining({ client_id: clientId, reference: "order-1", attempt: 2 }),
    ]);
    await sandbox.close();
    await remove(store);
  });

  it(`${name}: ${writers} writers of one payment lose nothing, in ${processes === 1 ? "one store" : "two stores"}`, async () => {
    const first = await openNew();
    const stores = processes === 1 ? [first] : [first, await open(first)];
    const payment = pendingPayment({ metadata: {} });
    await first.store.transaction((tx) => first.store.save(tx, { created: [payment] }));
    const numbers = Array.from({ length: writers }, (_, number) => number);
    await Promise.all(
      numbers.map((number) => {
        const { store, write } = stores[number % stores.length]!;
        return store.transaction(async (tx) => {
          const { payments } = await store.lock(tx, { clientIds: [payment.clientId] });
          const metadata = { ...payments[0]!.metadata, [`writer-${number}`]: "wrote" };
          await store.save(tx, { updated: [{ ...payments[0]!, metadata }] });
          const row = { client_id: payment.clientId, reference: "", idempotency_key: "", attempt: number };
          await write(tx, { ...row, event_id: "none" });
        });
      }),
    );
    expect(Object.keys((await first.store.find(payment.clientId))!.metadata!)).toHaveLength(writers);
    const written = (await first.rows()).map(({ attempt }) => attempt);
    expect(written.toSorted((a, b) => a - b)).toEqual(numbers);
    for (const { store } of stores) await store.close?.();
    await remove(first.store);
  });

  it(
    `${name}: shops that are killed at random moments lose nothing and duplicate nothing`,
    async () => {
      const kit = buildKit();
      const program = path.resolve("scripts/crash.mjs");
      const shops = ["--store-module", file, "--processes", `${processes}`];
      const args = [
        program,
        "--kit",
        kit,
        ...shops,
        "--cycles",
        `${kills}`,
        "--seed",
        "7",
        "--json",
        "--quiet",
      ];
      try {
        const { stdout, stderr } = await runNode(args);
        expect(stderr).toBe("");
        const result: unknown = JSON.parse(stdout);
        expect(result).toMatchObject({ lost: 0, unexpected: 0, duplicated: 0, kills });
        expect(result).toHaveProperty("effects", expect.any(Number));
      } finally {
        rmSync(kit, { recursive: true, force: true });
      }
    },
    120_000 + kills * 10_000,
  );
}

interface StoreUnderTest {
  /** Put in front of each test's name. */
  name: string;
  /** A file of `test/stores/modules`. */
  module: string;
  /** Whether the database refuses a row of the ledger whose column `attempt` has no number. */
  refuses?: boolean;
  /** The number of processes that can have the store at the same time: 1, or any. @default 2 */
  processes?: 1 | 2;
}

/** Starts a shop with the sandbox as its service. */
async function shopOver(store: PaymentStore) {
  const sandbox = createSandbox();
  await sandbox.start();
  const payments = testKit({
    store,
    service: { baseUrl: sandbox.url, accessToken: () => sandbox.accessToken() },
    signature: tillkit.hmacSignature({ secret: sandbox.secret }),
    dispatch: { firstDelayMs: 1, pollMs: 20 },
  });
  sandbox.registerWebhook(`${await serve(appOf(payments))}/payments/webhook`);
  return { payments, sandbox };
}

function signal<T>(): [Promise<T>, (value: T) => void] {
  let resolve!: (value: T) => void;
  return [new Promise<T>((settle) => (resolve = settle)), resolve];
}

function runNode(args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: process.env }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
}
