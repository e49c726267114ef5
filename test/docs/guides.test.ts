import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import express, { type Express } from "express";
import { Pool } from "pg";
import {
  captureRawBody,
  createPayments,
  fieldsSignature,
  type Handler,
  hmacSignature,
  paymentRouter,
  type Payments,
  type PaymentsOptions,
} from "tillkit";
import { postgresStore, sqliteStore } from "tillkit/sql";
import { testPayments } from "tillkit/testing";
import { documentOf, runCli } from "../cli/support/run-cli.js";
import { closeAll, scheme, secret, serve, testKit, testOptions } from "../support/kit.js";
import { completedBody, signed } from "../support/webhooks.js";
import { read } from "./documents.js";
import { runBlock } from "./run-block.js";
import { makeTutorial } from "./tutorial.js";

const total = { value: "1475", currency: "KMF" };
const start = process.cwd();
let folder: string;

// The pages name files without a folder, as a shop does.
beforeEach(() => process.chdir((folder = mkdtempSync(path.join(tmpdir(), "tillkit-guides-")))));
afterEach(async () => {
  await closeAll();
  process.chdir(start);
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a webhook to an application, and returns the status of the answer. */
async function send(url: string, by: { sign(rawBody: Buffer): string }, clientId = "c-1"): Promise<number> {
  const { rawBody, headers } = signed(completedBody({ clientId }), by);
  return (await fetch(url, { method: "POST", body: new Uint8Array(rawBody), headers })).status;
}

describe("docs/webhook-refused.md", () => {
  it("lets the kit keep refused webhooks, and its command finds the cause of the newest", async () => {
    const page = read("docs/webhook-refused.md");
    const [, keepRefused = ""] = /^TILLKIT_KEEP_REFUSED=(.*)$/m.exec(page) ?? [];
    const [, command = ""] = /^npx tillkit (verify .*)$/m.exec(page) ?? [];
    const payments = testKit({ webhook: { keepRefused } });
    const app = express();
    app.use("/payments", paymentRouter(payments));
    const url = `${await serve(app)}/payments/webhook`;
    writeFileSync(".env", `TILLKIT_WEBHOOK_SECRET=${secret}\nTILLKIT_MERCHANT_ID=m-7\n`);

    expect(await send(url, fieldsSignature({ secret, merchantId: "m-7" }))).toBe(401);
    expect(await send(url, scheme)).toBe(200);
    await payments.close();
    const ran = await runCli([...command.split(" "), "--json"], { cwd: folder });
    expect(documentOf(ran)).toMatchObject({ verified: false, findings: [{ code: "scheme_other" }] });
  });
});

it("docs/raw-body.md: a parser in front of the router keeps the bytes with captureRawBody", async () => {
  const withParser = (options: Parameters<typeof express.json>[0]): Express => {
    const app = express();
    app.use(express.json(options));
    app.use("/payments", paymentRouter(testKit()));
    return app;
  };
  expect(await send(`${await serve(withParser({ verify: captureRawBody }))}/payments/webhook`, scheme)).toBe(
    200,
  );
  expect(await send(`${await serve(withParser({}))}/payments/webhook`, scheme)).toBe(500);
});

describe("docs/refunds.md", () => {
  it("books a refund, marks the order, and leaves it paid for the kit", async () => {
    await using shop = await testPayments();
    const { payments, pay, settled } = shop;
    const { store } = payments;
    await store.transaction((tx) => tx.query("create table orders (id text, paid_by text, kept numeric)"));
    await store.transaction((tx) => tx.query("insert into orders (id) values ('order-1')"));
    await runBlock("docs/refunds.md", 1, { payments });
    const { clientId } = await pay({ reference: "order-1", total });
    await settled();
    for (let times = 0; times < 2; times += 1) await runBlock("docs/refunds.md", 0, { payments, clientId });
    // The refund of a second payment leaves the order paid.
    const second = { clientId: "legacy-1", reference: "order-1", total, serviceId: "s-legacy-1" };
    await payments.adopt(second);
    const evidence = { kind: "letter", document: "letter 3", total } as const;
    const person = { clientId: second.clientId, reason: "paid twice", by: "Amina" };
    await payments.resolve({ action: "accept", evidence, ...person });
    await payments.resolve({ action: "refunded", ...person });
    expect(await settled()).toEqual([]);
    expect((await store.transaction((tx) => tx.query("select kept from orders"))).rows).toEqual([
      { kept: 975 },
    ]);
    expect(await payments.find(clientId)).toMatchObject({ state: "completed" });
    await expect(payments.create({ reference: "order-1", total })).rejects.toMatchObject({
      code: "already_paid",
    });
  });
});

describe("docs/agents.md", () => {
  it("sells an order with the program that it shows", async () => {
    await using shop = await testPayments();
    const { payments } = shop;
    const { store } = payments;
    await store.transaction((tx) => tx.query("create table orders (id text, paid integer default 0)"));
    await store.transaction((tx) => tx.query("insert into orders (id) values ('order-1')"));
    const app = express();
    await runBlock("docs/agents.md", 0, {
      app,
      total,
      // The environment of this kit is that of `testPayments`.
      paymentRouter: ({ onPaymentCompleted }: { onPaymentCompleted: Handler<"payment.completed"> }) => {
        payments.onPaymentCompleted(onPaymentCompleted);
        return paymentRouter(payments);
      },
    });
    const checkout = await fetch(`${await serve(app)}/checkout/order-1`, {
      method: "POST",
      redirect: "manual",
    });
    expect(checkout.status).toBe(303);
    const approval = new URLSearchParams({ provider: "MVK", action: "approve" });
    await fetch(checkout.headers.get("location")!, { method: "POST", body: approval });
    expect(await shop.settled()).toEqual([]);
    expect((await store.transaction((tx) => tx.query("select paid from orders"))).rows).toEqual([
      { paid: 1 },
    ]);
  });
});

describe("docs/handlers.md", () => {
  it("tests a handler with the two files that it shows", async () => {
    const tutorial = makeTutorial();
    try {
      const [, section = ""] = read("docs/handlers.md").split("\n## Test a handler\n");
      const [handler, test] = [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block!);
      tutorial.write("fulfil-order.mjs", handler!);
      tutorial.write("fulfil-order.test.mjs", test!);
      expect((await tutorial.test()).stdout).toMatch(/ pass 1\n/);
    } finally {
      tutorial.remove();
    }
  }, 120_000);
});

describe("docs/two-processes.md", () => {
  it("closes the server and then the kit on SIGTERM", async () => {
    const closed = new Promise<string>((resolve) => {
      const app = { listen: () => ({ close: (then: () => void) => then() }) };
      const payments = { close: () => resolve("closed") };
      const process = { env: {}, on: (signal: string, end: () => void) => signal === "SIGTERM" && end() };
      void runBlock("docs/two-processes.md", 0, { app, payments, process });
    });
    expect(await closed).toBe("closed");
  });

  it("runs the handler in the worker, and not in the web process", async () => {
    const app = express();
    const kits: Payments[] = [];
    const ran: string[] = [];
    let markAsRun = () => {};
    const hasRun = new Promise<void>((resolve) => void (markAsRun = resolve));
    const startAs = (role: string) =>
      runBlock("docs/two-processes.md", 1, {
        app,
        options: testOptions({ store: sqliteStore("shop.db") }),
        process: { env: { ROLE: role } },
        createPayments: (options: PaymentsOptions) => {
          kits.push(createPayments(options));
          return kits.at(-1);
        },
        fulfil: () => {
          ran.push(role);
          markAsRun();
        },
      });

    await startAs("web");
    await kits[0]!.adopt({ clientId: "c-1", reference: "order-1", total });
    expect(await send(`${await serve(app)}/payments/webhook`, scheme)).toBe(200);
    await startAs("worker");
    await hasRun;
    for (const kit of kits) await kit.close();
    expect(ran).toEqual(["worker"]);
  });
});

describe("docs/several-kits.md", () => {
  it("keeps the merchants apart in one file", async () => {
    const app = express();
    const other = "whsec_6d1f0a9b3c7e4f258a0b6c9d2e5f8a1b";
    const kits: Payments[] = [];
    await runBlock("docs/several-kits.md", 0, {
      app,
      merchants: [
        { name: "north", token: "a", secret },
        { name: "south", token: "b", secret: other },
      ],
      fulfil: () => undefined,
      paymentRouter: (kit: Payments) => (kits.push(kit), paymentRouter(kit)),
    });
    const url = await serve(app);
    expect(await send(`${url}/north/webhook`, scheme)).toBe(200);
    expect(await send(`${url}/south/webhook`, scheme)).toBe(401);
    expect(await send(`${url}/south/webhook`, hmacSignature({ secret: other }))).toBe(200);
    for (const kit of kits) expect(await kit.health()).toMatchObject({ status: "ok" });
    for (const kit of kits) await kit.close();
  });
});

describe("docs/go-live.md", () => {
  it("asks for the health every minute, and prints what is wrong", async () => {
    await using shop = await testPayments();
    const woken: string[] = [];
    const timers: { run: () => Promise<void>; every: number }[] = [];
    const printed: unknown[][] = [];
    await runBlock("docs/go-live.md", 0, {
      payments: shop.payments,
      wakeSomebodyUp: (id: string, handler: string) => woken.push(handler),
      setInterval: (run: () => Promise<void>, every: number) => timers.push({ run, every }),
      console: { error: (...values: unknown[]) => printed.push(values) },
    });
    shop.payments.onPaymentCompleted(() => Promise.reject(new Error("no stock")));
    await shop.pay({ reference: "order-1", total });
    await shop.settled();
    expect(woken).toEqual(["payment.completed"]);
    expect(timers).toMatchObject([{ every: 60_000 }]);
    await timers[0]!.run();
    expect(printed).toMatchObject([["payments", "degraded", [{ code: "dispatches_dead" }]]]);
  });
});

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];
const hasPostgres = url !== undefined && url !== "none";
if (!hasPostgres)
  console.warn("docs/queues.md: left out, because TILLKIT_TEST_POSTGRES_URL names no server.");

(hasPostgres ? describe : describe.skip)("docs/queues.md", () => {
  const name = `queues_${process.pid}`;
  const pool = new Pool({ connectionString: url });
  beforeAll(() => pool.query(`create schema ${name}; create table ${name}.jobs (queue text, data json)`));
  afterAll(async () => {
    await pool.query(`drop schema ${name} cascade; drop schema if exists graphile_worker cascade`);
    await pool.end();
  });
  beforeEach(() => pool.query(`delete from ${name}.jobs`));

  /** Pays an order with the handler of a block, and returns the jobs that it added. */
  async function jobsOf(index: number, scope: object = {}): Promise<unknown[]> {
    const address = new URL(url!);
    address.searchParams.set("options", `-c search_path=${name}`);
    const store = postgresStore(address.href.replaceAll("+", "%20"), { tablePrefix: `q${index}_` });
    await using shop = await testPayments({ store });
    await runBlock("docs/queues.md", index, { payments: shop.payments, ...scope });
    await shop.pay({ reference: "order-1", total });
    expect(await shop.settled()).toEqual([]);
    const { rows } = await pool.query(`select queue, data from ${name}.jobs`);
    return rows;
  }

  it("adds a job of pg-boss through the transaction", async () => {
    const insert = `insert into ${name}.jobs values ($1, $2)`;
    type Db = { executeSql: (text: string, values: unknown[]) => Promise<unknown> };
    const boss = {
      send: (queue: string, data: object, { db }: { db: Db }) => db.executeSql(insert, [queue, data]),
    };
    expect(await jobsOf(0, { boss })).toEqual([{ queue: "ship-order", data: { order: "order-1" } }]);
  });

  it("adds a job of graphile-worker through the transaction", async () => {
    await pool.query(`create schema graphile_worker; create function graphile_worker.add_job(text, json)
      returns void language sql as 'insert into ${name}.jobs values ($1, $2)'`);
    expect(await jobsOf(1)).toEqual([{ queue: "ship-order", data: { order: "order-1" } }]);
  });

  it("gives BullMQ an id without a colon, equal in every run", async () => {
    const ids: string[] = [];
    const queue = {
      add: async (_name: string, _data: object, { jobId }: { jobId: string }) => {
        ids.push(jobId);
        if (ids.length === 1) throw new Error("Redis is away.");
      },
    };
    await jobsOf(2, { queue });
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(ids[0]).toMatch(/^[^:]+$/);
  });
});
