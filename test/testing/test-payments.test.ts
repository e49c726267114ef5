import { EventEmitter } from "node:events";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { setImmediate } from "node:timers/promises";
import { fieldsSignature, hmacSignature, MemoryStore, type TillkitEvent } from "tillkit";
import { type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { testPayments } from "tillkit/testing";
import { readSources } from "../architecture/read-imports.js";
import { collectedLog } from "../http/collected-log.js";

const total = { value: "1475", currency: "KMF" };
const secret = "sandbox_0123456789abcdef0123456789abcdef";
const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("tillkit-testing-"));

let close: () => Promise<void> = async () => {};
afterEach(() => close());

describe("testPayments", () => {
  it("pays at the sandbox, and the handler's writes are there when it is settled", async () => {
    const { payments, pay, settled, ...kit } = await testPayments();
    close = kit.close;
    const { store } = payments;
    await store.transaction((tx) => tx.query("create table orders (id text primary key, paid_by text)"));
    payments.onPaymentCompleted(async ({ payment }, { tx }) => {
      await tx.query("insert into orders values (?, ?)", [payment.reference, payment.clientId]);
    });
    const { clientId } = await pay({ reference: "order-1", total });
    expect(await settled()).toEqual([]);
    const { rows } = await store.transaction((tx) => tx.query("select * from orders"));
    expect(rows).toEqual([{ id: "order-1", paid_by: clientId }]);
  });

  it("is closed at the end of its block by await using", async () => {
    let url: string;
    {
      await using shop = await testPayments();
      ({ url } = shop.sandbox);
      await shop.pay({ reference: "order-1", total });
    }
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it("waits for a handler that takes its time, and for the payments that it makes", async () => {
    const { payments, pay, settled, ...kit } = await testPayments();
    close = kit.close;
    const paid: string[] = [];
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    payments.onPaymentCompleted(async ({ payment }) => {
      if (payment.reference === "first") {
        await released;
        await pay({ reference: "second", total });
      }
      paid.push(payment.reference);
    });
    await pay({ reference: "first", total });
    const isSettled = settled();
    expect(paid).toEqual([]);
    release();
    expect(await isSettled).toEqual([]);
    expect(paid.toSorted()).toEqual(["first", "second"]);
  });

  it("returns the dead dispatch of a handler that throws, after three runs, with its error", async () => {
    const { payments, pay, settled, ...kit } = await testPayments();
    close = kit.close;
    let runs = 0;
    payments.onPaymentCompleted(() => {
      runs += 1;
      throw new Error("there is no such order");
    });
    await pay({ reference: "order-1", total });
    expect(await settled()).toMatchObject([
      { handler: "payment.completed", state: "dead", error: "Error: there is no such order" },
    ]);
    expect(await settled()).toHaveLength(1);
    expect(runs).toBe(3);
  });

  it("returns the dead dispatches of all handlers, however many there are", async () => {
    const dispatch = { pollMs: 10, firstDelayMs: 10, maxDelayMs: 10, maxFailures: 1 };
    const { payments, pay, settled, ...kit } = await testPayments({ dispatch });
    close = kit.close;
    const fail = () => {
      throw new Error("there is no such order");
    };
    const names = Array.from({ length: 101 }, (_, index) => `handler-${index}`);
    for (const name of names) payments.onPaymentCompleted(fail, { name });
    await pay({ reference: "order-1", total });
    const dead = await settled();
    expect(dead.map(({ handler }) => handler).toSorted()).toEqual(names.toSorted());
  });

  it("takes the scenario, the scheme and the store of the test", async () => {
    const { payments, pay, settled, ...kit } = await testPayments({
      store: new MemoryStore(),
      signature: fieldsSignature({ secret, merchantId: "m-1" }),
      sandbox: { scenario: "amount-changed" },
    });
    close = kit.close;
    const events: TillkitEvent["type"][] = [];
    payments.onAny(({ type }) => events.push(type));
    await pay({ reference: "order-1", total });
    await settled();
    expect(events).toContain("payment.mismatched");
  });

  it.each<[string, NonNullable<SandboxOptions["signature"]>]>([
    ["fields", { scheme: "fields" }],
    [
      "fields in another order",
      {
        scheme: "fields",
        merchantId: "m-1",
        fields: ["status", "total.currency", "total.value", "clientId", "id", "merchantId"],
      },
    ],
    ["another algorithm", { scheme: "hmac", algorithm: "sha512" }],
    ["another header", { scheme: "hmac", header: "X-Sig" }],
    ["a secret of the test", { scheme: "hmac", secret }],
    ["a scheme of the test", hmacSignature({ secret, header: "X-Own" })],
  ])("verifies with the scheme that the sandbox signs with: %s", async (_, signature) => {
    const { payments, pay, settled, sandbox, ...kit } = await testPayments({ sandbox: { signature } });
    close = kit.close;
    const paid: string[] = [];
    payments.onPaymentCompleted(({ payment }) => void paid.push(payment.reference));
    await pay({ reference: "order-1", total });
    expect(await settled()).toEqual([]);
    expect(sandbox.deliveries).toMatchObject([{ status: 200 }]);
    expect(paid).toEqual(["order-1"]);
  });

  it("refuses a scheme of the sandbox that cannot verify", async () => {
    const signature = { header: "X-Own", sign: () => "signed" };
    await expect(testPayments({ sandbox: { signature } })).rejects.toMatchObject({ code: "option_invalid" });
  });

  it("does not settle where the kit verifies in another way than the sandbox signs", async () => {
    const { pay, settled, ...kit } = await testPayments({
      signature: hmacSignature({ secret }),
      sandbox: { signature: { scheme: "hmac" } },
    });
    close = kit.close;
    await pay({ reference: "order-1", total });
    await expect(settled()).rejects.toMatchObject({
      code: "sandbox_misused",
      message: expect.stringContaining("Give only one of the options signature and sandbox.signature"),
    });
  });

  it.each<[string, SandboxOptions, (sandbox: Sandbox, clientId: string) => unknown]>([
    ["a scenario", { scenario: "signature-wrong" }, () => {}],
    [
      "the test",
      {},
      (sandbox, clientId) =>
        sandbox.sendWebhook({ payment: clientId, overrides: { type: "forged" }, sign: () => "0".repeat(64) }),
    ],
  ])("settles after a refused webhook that %s forged", async (_, options, forge) => {
    const { pay, settled, sandbox, ...kit } = await testPayments({ sandbox: options });
    close = kit.close;
    const { clientId } = await pay({ reference: "order-1", total });
    await forge(sandbox, clientId);
    expect(await settled()).toEqual([]);
    expect(sandbox.deliveries.map(({ status }) => status)).toContain(401);
  });

  it("leaves no file, no server and no timer behind", async () => {
    const before = folders();
    const kit = await testPayments();
    await kit.pay({ reference: "order-1", total });
    await kit.settled();
    expect(folders()).not.toEqual(before);
    const addresses = [kit.payments.options.publicUrl, kit.sandbox.url];
    await kit.close();
    expect(folders()).toEqual(before);
    for (const address of addresses) await expect(fetch(address)).rejects.toThrow("fetch failed");
  });

  it("leaves no listener behind, however often it is settled", async () => {
    const { settled, ...kit } = await testPayments();
    close = kit.close;
    const added = jest.spyOn(EventEmitter.prototype, "once");
    for (let calls = 0; calls < 11; calls++) await settled();
    const counts = added.mock.contexts.map((emitter) => (emitter as EventEmitter).listenerCount("end"));
    added.mockRestore();
    expect(Math.max(0, ...counts)).toBeLessThan(5);
  });

  it("closes the rest where one part cannot be closed", async () => {
    const before = folders();
    const kit = await testPayments();
    const { store } = kit.payments;
    const closeStore = store.close.bind(store);
    store.close = async () => {
      await closeStore();
      throw new Error("The store cannot be closed.");
    };
    const addresses = [kit.payments.options.publicUrl, kit.sandbox.url];
    await expect(kit.close()).rejects.toThrow("The store cannot be closed.");
    expect(folders()).toEqual(before);
    for (const address of addresses) await expect(fetch(address)).rejects.toThrow("fetch failed");
  });

  it("closes what it has opened when it cannot start", async () => {
    const before = folders();
    await expect(testPayments({ sweepMs: -1 })).rejects.toMatchObject({ code: "option_invalid" });
    expect(folders()).toEqual(before);
  });

  it.each(["publicUrl", "service"])("refuses the option %s, which it sets itself", async (option) => {
    const options = { [option]: "https://shop.example/payments" } as object;
    await expect(testPayments(options)).rejects.toMatchObject({ problems: [{ option }] });
  });

  it("refuses dispatch: false, with which no handler would run and nothing would settle", async () => {
    const before = folders();
    const options = { dispatch: false } as object;
    await expect(testPayments(options)).rejects.toMatchObject({
      name: "ConfigurationError",
      code: "option_invalid",
      problems: [{ option: "dispatch" }],
    });
    expect(folders()).toEqual(before);
  });

  it("works where NODE_ENV is production, which stays so", async () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = "production";
    try {
      const { payments, pay, settled, ...kit } = await testPayments();
      close = kit.close;
      const paid: string[] = [];
      payments.onPaymentCompleted(({ payment }) => void paid.push(payment.reference));
      await pay({ reference: "order-1", total });
      expect(await settled()).toEqual([]);
      expect([paid, process.env.NODE_ENV]).toEqual([["order-1"], "production"]);
    } finally {
      process.env.NODE_ENV = before;
    }
  });

  it("takes the options of the test instead of its own", async () => {
    const { logger, lines } = collectedLog();
    const dispatch = { pollMs: 10, firstDelayMs: 1, maxDelayMs: 1, maxFailures: 2 };
    const { payments, pay, settled, ...kit } = await testPayments({ logger, dispatch });
    close = kit.close;
    let runs = 0;
    payments.onPaymentCompleted(() => {
      runs += 1;
      throw new Error("no");
    });
    await pay({ reference: "order-1", total });
    await settled();
    expect(runs).toBe(2);
    expect(lines).not.toEqual([]);
  });

  it("sends webhooks only to the address that the test gives", async () => {
    const url = "http://127.0.0.1:9/webhook";
    const { pay, settled, sandbox, ...kit } = await testPayments({
      sandbox: { webhookUrls: [url], retryDelaysMs: [] },
    });
    close = kit.close;
    await pay({ reference: "order-1", total });
    expect(await settled()).toEqual([]);
    expect(sandbox.deliveries.map((one) => one.url)).toEqual([url]);
  });

  it("waits also for handlers that share a transaction", async () => {
    const { payments, pay, settled, ...kit } = await testPayments();
    close = kit.close;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const paid: string[] = [];
    const handle = async ({ payment }: { payment: { reference: string } }) => {
      await released;
      paid.push(payment.reference);
    };
    payments.onPaymentCompleted(handle, { transaction: "shared" });
    await pay({ reference: "order-1", total });
    const isSettled = settled();
    release();
    await isSettled;
    expect(paid).toEqual(["order-1"]);
  });

  it("settles where the last run ends while the open dispatches are counted", async () => {
    const { payments, pay, settled, ...kit } = await testPayments();
    close = kit.close;
    const { store } = payments;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let ended: Promise<void> | undefined;
    const [counts, runHandler] = [store.counts.bind(store), store.runHandler.bind(store)];
    store.runHandler = (run, finish) => (ended = runHandler(run, finish));
    const started = new Promise<void>((resolve) =>
      payments.onPaymentCompleted(() => {
        resolve();
        return released;
      }),
    );
    await pay({ reference: "order-1", total });
    await started;
    let calls = 0;
    const counted = new Promise<void>((resolve) => {
      store.counts = async (options) => {
        calls += 1;
        const found = await counts(options);
        release();
        await ended;
        resolve();
        return found;
      };
    });
    const isSettled = settled();
    await counted;
    for (let waits = 0; waits < 1000; waits++) await setImmediate();
    const callsUntilNow = calls;
    // A call that missed the end would otherwise wait for the next sweep.
    await store.transaction(async () => {});
    expect(await isSettled).toEqual([]);
    expect(callsUntilNow).toBe(2);
  });

  it("is all that loads the kit and the sandbox: an import of tillkit/testing loads the exam", () => {
    const loads = new Map(
      readSources().map(({ file, imports }) => [file, imports.filter(({ kind }) => kind === "runtime")]),
    );
    const loaded = new Set(["testing/index.ts"]);
    for (const file of loaded) for (const { target } of loads.get(file) ?? []) loaded.add(target);
    const parts = new Set([...loaded].map((file) => file.split("/", 1)[0]!));
    expect([...parts].filter((part) => !part.startsWith("node:"))).toEqual([
      "testing",
      "store",
      "errors",
      "shared",
      "model",
    ]);
    expect([...loaded].filter((file) => file.startsWith("store/sql"))).toEqual([]);
  });
});
