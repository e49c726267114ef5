import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { type NoticeMap, type Payments, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { type Orders } from "../../../examples/stores/orms/orders.js";
import {
  onEachServer,
  openPlace,
  openStore,
  serverUrl,
  type Place,
} from "../../promises/processes/databases.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { databaseFor } from "./own-database.js";
import { generatePrismaClient, type PrismaOrders, prismaOrders } from "./prisma-client.js";

const root = path.resolve(__dirname, "../../..");
const examples = path.join(root, "examples/stores");
const isInstalled = existsSync(path.join(examples, "node_modules/kysely"));
const folders = { postgres: "orms", mysql: "orms/mysql" };

onEachServer("the ORMs", (kind) => {
  const folder = path.join(examples, folders[kind]);
  const programs = readdirSync(folder).filter((file) => file.endsWith(".ts") && file !== "orders.ts");
  const reason = "their packages are not installed: npm ci --prefix examples/stores";
  if (isInstalled)
    describe.each(programs)("%s", (file) => {
      sentences(kind, path.join(folder, file));
    });
  else it(`leaves the ORMs out, because ${reason}`, () => expect(isInstalled).toBe(false));
});

it("loads no files of the kit but those under test, which are the sources or the unpacked tarball", () => {
  const underTest = process.env.TILLKIT_TEST_TARGET === "packed" ? ".tmp/package/dist/cjs/" : "src/";
  const loaded = Object.keys(require.cache).map((file) => path.relative(root, file));
  const ofKit = loaded.filter((file) => !/(^|\/)node_modules\/|^(test|examples)\//.test(file));
  expect(ofKit).toContain(path.join(underTest, `store/sql/index.${underTest === "src/" ? "ts" : "js"}`));
  expect(ofKit.filter((file) => !file.startsWith(underTest))).toEqual([]);
});

function sentences(kind: "postgres" | "mysql", program: string): void {
  const database = databaseFor(kind, serverUrl(kind)!);
  let ordersIn: (tx: SqlTx) => Orders | Promise<Orders>;
  let fulfilOrder: ((event: object, context: object) => Promise<void>) | undefined;
  let place: Place;

  beforeAll(async () => {
    if (program.endsWith("prisma.ts")) generatePrismaClient(program.replace(".ts", ""));
    const found = (await import(program)) as {
      ordersIn?: typeof ordersIn;
      clientIn(tx: SqlTx): PrismaOrders;
      fulfilOrder?: typeof fulfilOrder;
    };
    ordersIn = found.ordersIn ?? ((tx) => prismaOrders(found.clientIn(tx)));
    ({ fulfilOrder } = found);
    await database.create();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    place = await openPlace(kind, database.url);
    await place.store.transaction((tx) =>
      tx.query("create table orders (reference varchar(64) primary key, paid boolean default false)"),
    );
    await place.store.transaction((tx) => place.store.save(tx, { created: [pendingPayment()] }));
  });
  afterEach(async () => {
    await closeAll();
    await place.store.transaction((tx) => tx.query("drop table orders"));
    await place.remove();
  });

  type Handler = (orders: Orders, tx: SqlTx, attempt: number) => Promise<unknown>;

  /** Runs a handler this many times, and returns the committed orders and the errors of its failed runs. */
  async function handled(handler: Handler, runs = 1): Promise<{ orders: string[]; errors: unknown[] }> {
    const payments: Payments<SignedField, SqlTx> = testKit<SignedField, SqlTx>({
      store: openStore(place.address),
      spool: false,
      dispatch: { firstDelayMs: 1, maxDelayMs: 2, pollMs: 5, maxFailures: 2 },
    });
    const failures: NoticeMap["dispatch.failed"][] = [];
    payments.on("dispatch.failed", (notice) => void failures.push(notice));
    const ended = new Promise<void>((resolve) => {
      payments.on("dispatch.dead", () => resolve());
      payments.onPaymentCompleted(async (_event, { tx, attempt }) => {
        await handler(await ordersIn(tx), tx, attempt);
        if (attempt === runs) resolve();
      });
    });
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    await ended;
    // The second delivery must not run the handler again: the mark was committed with the orders.
    await payments.receiveWebhook(signed(completedBody()));
    await payments.close();
    const rows = await place.select<{ reference: string }>("select reference from orders order by reference");
    return { orders: rows.map(({ reference }) => reference), errors: failures.map(({ error }) => error) };
  }

  const throws = (): never => {
    throw new Error("after the writes");
  };

  it("commits its writes in the transaction of the mark", async () => {
    const { orders, errors } = await handled(async (orders) => {
      await orders.add("a");
      expect(await orders.all()).toMatchObject([{ reference: "a" }]);
    });
    expect({ orders, errors }).toEqual({ orders: ["a"], errors: [] });
    if (kind !== "postgres") return;
    const seen = await place.select("select o.xmin = d.xmin as same from orders o, @dispatches d");
    expect(seen).toEqual([{ same: true }]);
  });

  if (program.endsWith("prisma.ts"))
    it("marks the order as paid with its whole handler", async () => {
      const payment = pendingPayment();
      const { errors } = await handled(async (orders, tx) => {
        await orders.add(payment.reference);
        await fulfilOrder!({ payment }, { tx });
      });
      expect(errors).toEqual([]);
      const rows = await place.select("select reference from orders where paid");
      expect(rows).toEqual([{ reference: payment.reference }]);
    });

  it("leaves nothing of a handler that throws, also of a nested transaction that was committed", async () => {
    const { orders, errors } = await handled(async (orders, _tx, attempt) => {
      await orders.add(`${attempt}`);
      await orders.nested((inner) => inner.add(`nested ${attempt}`));
      if (attempt === 1) throws();
    }, 2);
    expect(orders).toEqual(["2", "nested 2"]);
    expect(errors).toMatchObject([{ message: "after the writes" }]);
  });

  it("commits and rolls back nested transactions by themselves", async () => {
    const { orders } = await handled(async (orders) => {
      await orders.add("a");
      await orders.nested((inner) => inner.add("b"));
      await expect(orders.nested((inner) => inner.add("c").then(throws))).rejects.toThrow("after the writes");
      await orders.add("d");
    });
    expect(orders).toEqual(["a", "b", "d"]);
  });

  it("rolls a failed statement back with its nested transaction, and goes on", async () => {
    const { orders, errors } = await handled(async (orders) => {
      await orders.add("a");
      await expect(
        orders.nested(async (inner) => {
          await inner.add("b");
          await inner.add("a");
        }),
      ).rejects.toThrow(Error);
      await orders.add("c");
    });
    expect({ orders, errors }).toEqual({ orders: ["a", "c"], errors: [] });
  });

  // MySQL returns no row of an insert, so that Prisma begins a transaction of its own for each, in which it selects the row.
  const isOwn = kind === "mysql" && program.endsWith("prisma.ts");

  it("rolls everything back after a failed statement outside of a nested transaction, whose error was swallowed", async () => {
    const { orders, errors } = await handled(
      async (orders, _tx, attempt) => {
        await orders.add(`${attempt}`);
        if (attempt === 1) await orders.add("1").catch(() => undefined);
      },
      isOwn ? 1 : 2,
    );
    expect(orders).toEqual(isOwn ? ["1"] : ["2"]);
    expect(errors).toMatchObject(isOwn ? [] : [{ code: "transaction_poisoned" }]);
  });

  it("runs concurrent statements and transactions one after another", async () => {
    const { orders } = await handled((orders) =>
      Promise.allSettled([
        orders.nested((inner) => inner.add("a")),
        orders.nested((inner) => inner.add("b").then(throws)),
        orders.add("c"),
        orders.nested((inner) => inner.add("d")),
      ]),
    );
    expect(orders).toEqual(["a", "c", "d"]);
  });

  it("shares the transaction with tx.query, and refuses everything after the handler", async () => {
    let late!: Orders;
    await handled(async (orders, tx) => {
      await tx.query("insert into orders (reference) values ('by hand')");
      expect(await orders.all()).toMatchObject([{ reference: "by hand" }]);
      late = orders;
    });
    await expect(late.add("late")).rejects.toThrow(Error);
    expect(await place.select("select reference from orders")).toEqual([{ reference: "by hand" }]);
  });
}

/** Generates Prisma's client, for which it needs no engine; it would download the one for migrations otherwise. */
