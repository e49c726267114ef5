import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Express } from "express";
import {
  type BatchAdapter,
  type BatchTx,
  type Handler,
  type Payments,
  type PaymentStore,
  storeOver,
} from "tillkit";
import { closeAll, secret, serve, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { failure } from "./support/mongodb-documents.js";
import { MongoStandIn } from "./support/mongodb-stand-in.js";
import { packageOf, withPackages } from "./support/package-of.js";
import { storeTests } from "./support/store-tests.js";

/** The types of the example's driver may be absent. */
type MongoWrite = (session: unknown) => Promise<unknown>;
type Tx = BatchTx<MongoWrite>;
type Options = { session: unknown };

/** What these tests use of a connection of Mongoose. */
interface Connection {
  getClient(): { db(): { databaseName: string } };
  model(name: string, schema: object): Model;
  close(): Promise<void>;
}
interface Model {
  create(documents: object[], options?: Options): Promise<unknown>;
  updateOne(filter: object, update: object, options: Options): Promise<unknown>;
  find(filter?: object): { lean(): Promise<{ _id: string }[]> };
}
interface Mongoose {
  createConnection(url: string, options?: object): { asPromise(): Promise<Connection> };
  Schema: new (fields: object) => object;
}

withPackages("the tests of a store in MongoDB", ["mongodb", "mongoose"], () => {
  const server = new MongoStandIn();
  beforeAll(async () => (process.env["TILLKIT_TEST_MONGODB_URL"] = await server.start()));
  afterAll(() => server.close());

  storeTests({ name: "a store in MongoDB", module: "mongodb.cjs", refuses: true });
  describe("a store in MongoDB, through the connection of Mongoose", () => {
    storeOfMongoose(server);
  });
});

function storeOfMongoose(server: MongoStandIn): void {
  const mongoose = packageOf<Mongoose>("mongoose");
  let url: string;
  let connection: Connection;
  let orders: Model;
  let store: PaymentStore<Tx>;

  const connect = (to: string): Promise<Connection> =>
    mongoose.createConnection(to, { autoIndex: false, autoCreate: false }).asPromise();
  const { mongodbAdapter } = jest.requireActual<{
    mongodbAdapter(this: void, db: object, name?: string, timeoutMs?: number): BatchAdapter<MongoWrite>;
  }>(path.resolve(__dirname, "../../examples/stores/mongodb.ts"));
  const open = (to: Connection, timeoutMs?: number): PaymentStore<Tx> =>
    storeOver(mongodbAdapter(to.getClient().db(), undefined, timeoutMs));

  const ordersOf = (of: Connection): Model =>
    of.model("Order", new mongoose.Schema({ _id: String, paid: Boolean, note: String }));

  beforeEach(async () => {
    url = process.env["TILLKIT_TEST_MONGODB_URL"]!;
    connection = await connect(`${url}${randomBytes(6).toString("hex")}`);
    orders = ordersOf(connection);
    store = open(connection);
    await store.migrate();
    await orders.create([{ _id: "order-1", paid: false }]);
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment({ reference: "order-1" })] }));
    server.commands.length = 0;
  });
  afterEach(async () => {
    await closeAll();
    await connection.close();
  });

  const isPaid: MongoWrite = (session) => orders.updateOne({ _id: "order-1" }, { paid: true }, { session });
  const add = (write: MongoWrite, to = store) => to.transaction(async (tx) => tx.add(write));

  /** Runs a handler until it has succeeded, and returns the attempts. */
  async function handled(handler: (tx: Tx, attempt: number) => void): Promise<number> {
    const payments = testKit({ store, spool: false, dispatch: { firstDelayMs: 1, pollMs: 5 } });
    const attempts = await new Promise<number>((resolve, reject) => {
      const run: Handler<"payment.completed", never, Tx> = async (_event, { tx, attempt }) => {
        handler(tx, attempt);
        if (attempt === 1) throw new Error("The first run fails after its write.");
        resolve(attempt);
      };
      payments.onPaymentCompleted(run);
      payments
        .start({ keepAlive: false })
        .then(() => payments.receiveWebhook(signed(completedBody())))
        .catch(reject);
    });
    await payments.close(); // It waits for the commit.
    return attempts;
  }

  it("commits the order with the mark of the second run, and nothing of the first, which failed", async () => {
    const attempts = await handled((tx, attempt) => {
      tx.add((session) => orders.create([{ _id: `attempt-${attempt}` }], { session }), isPaid);
    });
    expect(attempts).toBe(2);
    expect(await orders.find().lean()).toMatchObject([{ _id: "order-1", paid: true }, { _id: "attempt-2" }]);
  });

  it("pays the order of the program of docs/store-engines.md", async () => {
    const variables = {
      TILLKIT_PUBLIC_URL: "https://shop.example/payments",
      TILLKIT_SERVICE_URL: "https://pay.example",
      TILLKIT_ACCESS_TOKEN: "a-token",
      TILLKIT_WEBHOOK_SECRET: secret,
    };
    Object.assign(process.env, variables);
    const { openShop } = jest.requireActual<{
      openShop(this: void, url: string): Promise<{ app: Express; payments: Payments }>;
    }>(path.resolve(__dirname, "../../examples/stores/mongoose.ts"));
    const { app, payments: shop } = await openShop(
      new URL(connection.getClient().db().databaseName, url).href,
    );
    try {
      const done = new Promise((resolve) => shop.on("payment.completed", resolve, { name: "last" }));
      const { rawBody: body, headers } = signed(completedBody());
      const webhook = `${await serve(app)}/payments/webhook`;
      expect(await fetch(webhook, { method: "POST", body: new Uint8Array(body), headers })).toMatchObject({
        status: 200,
      });
      await done;
      await shop.close();
      expect(await orders.find().lean()).toMatchObject([{ _id: "order-1", paid: true }]);
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
      await shop.close();
      await packageOf<{ disconnect(): Promise<void> }>("mongoose").disconnect();
    }
  });

  it("type-checks the program of docs/store-engines.md", () => {
    mkdirSync(".tmp", { recursive: true });
    const folder = mkdtempSync(path.resolve(".tmp/mongoose-"));
    try {
      const config = { extends: "../../tsconfig.json", include: ["../../examples/stores/mongoose.ts"] };
      writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
      const run = spawnSync(process.execPath, ["scripts/tsc.mjs", "-p", folder], { encoding: "utf8" });
      expect(run.stdout).toBe("");
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);

  it("asks for snapshots, commits on the disks of a majority, and reads what a majority has from the primary", async () => {
    await add(isPaid);
    await store.find("c-1");
    const first = server.commands.find(({ startTransaction }) => startTransaction === true);
    expect(first).toMatchObject({ readConcern: { level: "snapshot" } });
    const commit = server.commands.find((command) => "commitTransaction" in command);
    expect(commit).toMatchObject({ writeConcern: { w: "majority", j: true } });
    const reads = server.commands.filter(({ find }) => find === "payment_records");
    expect(reads.length).toBeGreaterThan(0);
    for (const read of reads) expect(read).toMatchObject({ readConcern: { level: "majority" } });
    expect(server.commands.filter(({ $readPreference }) => $readPreference)).toEqual([]);
  });

  it("commits once where the answer of a commit is lost twice", async () => {
    server.fail({ command: "commitTransaction", times: 2, action: "run and close" });
    await add((session) => orders.create([{ _id: "order-2" }], { session }));
    expect(await orders.find().lean()).toHaveLength(2);
    expect(server.commands.filter((command) => "commitTransaction" in command).length).toBeGreaterThan(2);
  });

  it("runs the writes again after a conflict, and after a commit that a new primary does not know", async () => {
    server.fail({ command: "update", times: 1, action: failure(112, "WriteConflict", true) });
    server.fail({ command: "commitTransaction", times: 1, action: failure(251, "NoSuchTransaction", true) });
    let runs = 0;
    await add((session) => isPaid(session).finally(() => runs++));
    expect(await orders.find().lean()).toMatchObject([{ paid: true }]);
    expect(runs).toBe(3);
  });

  it("waits for the transaction of a process that was killed, which the server ends after its time", async () => {
    const { databaseName } = connection.getClient().db();
    const dead = await connect(url.replace("shop", databaseName));
    await new Promise<void>((resolve) => {
      const never = new Promise(() => {});
      const forgotten: MongoWrite = async (session) => {
        await ordersOf(dead).updateOne({ _id: "order-1" }, { note: "killed" }, { session });
        resolve();
        await never;
      };
      add(forgotten, open(dead)).catch(() => {});
    });
    await add(isPaid);
    expect(server.commands.filter(({ update }) => update === "orders").length).toBeGreaterThan(2);
    await dead.close();
    expect(await orders.find().lean()).toEqual([{ _id: "order-1", paid: true, __v: 0 }]);
  });

  it("rejects with store_conflict where the server refuses a write of a handler: a second document, and one of 16 MB", async () => {
    const twice: MongoWrite = (session) => orders.create([{ _id: "order-1" }], { session });
    await expect(add(twice)).rejects.toMatchObject({ code: "store_conflict" });
    const large: MongoWrite = (session) =>
      orders.create([{ _id: "order-2", note: "x".repeat(17 * 1024 * 1024) }], { session });
    await expect(add(large)).rejects.toMatchObject({ code: "store_conflict" });
    expect(await orders.find().lean()).toHaveLength(1);
  });

  it("gives up with store_unavailable where the server answers nothing in its time", async () => {
    server.fail({ command: "update", times: 1e6, action: "close" });
    const failing = add(isPaid, open(connection, 200));
    await expect(failing).rejects.toMatchObject({ code: "store_unavailable" });
    server.clearFailPoints();
    expect(await orders.find().lean()).toMatchObject([{ paid: false }]);
  });

  it("refuses a single server at the start, and says what to do", async () => {
    const single = new MongoStandIn({ replicaSet: false });
    const alone = await connect(await single.start());
    await expect(open(alone).migrate()).rejects.toThrow(
      "Start it with --replSet, and call rs.initiate() once.",
    );
    await alone.close();
    await single.close();
  });
}
