import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  type CreatedPayment,
  type DispatchOptions,
  type DispatchRecord,
  type PaymentRequest,
  type PaymentServiceOptions,
  type Payments,
  type PaymentsOptions,
  type PaymentStore,
  type SignedField,
} from "../index.js";
import type * as index from "../index.js";
import { TillkitError } from "../errors/index.js";
import { type Sandbox, type SandboxOptions } from "../sandbox/index.js";
import { isProduction } from "../shared/is-production.js";
import { optionInvalid, requireOptions } from "../shared/unknown-names.js";
import { type SqliteDatabase, type SqlTx } from "../store/sql/index.js";

/** The options of `createPayments`, without the options that {@link testPayments} sets itself. */
export interface TestPaymentsOptions<Covers extends SignedField, Tx> extends Partial<
  Omit<PaymentsOptions<Covers, Tx>, "publicUrl" | "service" | "store" | "dispatch">
> {
  /** The options for calling handlers. `false` is not allowed. @default short waits, and three runs */
  dispatch?: DispatchOptions | undefined;
  /** A store over an empty database. @default a new SQLite file, which `close()` removes */
  store?: PaymentsOptions<Covers, Tx>["store"];
  /** The options of the sandbox, such as `scenario`. @default those of a sandbox, with short retry delays */
  sandbox?: SandboxOptions | undefined;
}

/** A kit for tests, with a payment service and a server of its own. */
export interface TestPayments<Covers extends SignedField = SignedField, Tx = SqlTx<SqliteDatabase>> {
  /** The kit, to which a test adds handlers. */
  payments: Payments<Covers, Tx>;
  /** The payment service. */
  sandbox: Sandbox;
  /** Creates a payment and pays it at the sandbox. Resolves after the first attempt of its webhook. */
  pay(this: void, request: PaymentRequest): Promise<CreatedPayment>;
  /**
   * Resolves when the sandbox sends no more webhooks and every dispatch is done or dead. Returns up to 1000
   * dead dispatches, with their errors. By default, the dispatch of a handler that throws is dead after three
   * runs. Rejects with `sandbox_misused` if the kit refused a signature that no test forged.
   */
  settled(this: void): Promise<DispatchRecord[]>;
  /** Closes the kit, the sandbox and the server, and removes the SQLite file. */
  close(this: void): Promise<void>;
  /** Calls `close` at the end of a scope with `await using`. */
  [Symbol.asyncDispose](this: void): Promise<void>;
}

/**
 * Makes a kit for the tests of your handlers, with a sandbox, a server on a free port, and a new SQLite file.
 * The kit does not keep the process alive, so that a failing test ends. NODE_ENV may be `production`.
 *
 * @throws TillkitError `driver_missing` without SQLite: Node before 22.16 needs `@photostructure/sqlite`
 * @throws ConfigurationError if an option is not valid
 * @example
 * let shop: TestPayments;
 * beforeEach(async () => (shop = await testPayments()));
 * afterEach(() => shop.close());
 *
 * it("marks the order as paid", async () => {
 *   shop.payments.onPaymentCompleted(fulfilOrder);
 *   await shop.pay({ reference: "order-1", total: { value: "1475", currency: "KMF" } });
 *   expect(await shop.settled()).toEqual([]); // no dispatch is dead
 * });
 */
export async function testPayments<
  Covers extends SignedField = SignedField,
  Tx extends object = SqlTx<SqliteDatabase>,
>(given: TestPaymentsOptions<Covers, Tx> = {}): Promise<TestPayments<Covers, Tx>> {
  requireOptions("testPayments", given, "{ sandbox }");
  const { sandbox: sandboxOptions, store: givenStore, ...options } = given;
  refuseOwnOptions(options);
  // Only tests that call this function load the kit, the sandbox and Express.
  const [kit, { createSandbox }, { sqliteStore }, { default: express }] = await Promise.all([
    import("../index.js"),
    import("../sandbox/index.js"),
    import("../store/sql/index.js"),
    import("express"),
  ]);
  const app = express();
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    const failures: { error: unknown }[] = [];
    for (const closeOne of closers.splice(0).toReversed())
      await closeOne().catch((error: unknown) => failures.push({ error }));
    if (failures[0]) throw failures[0].error;
  };
  try {
    const publicUrl = `${await serve(app, closers)}/payments`;
    const signature = options.signature && { signature: options.signature };
    const settings = { retryDelaysMs: [10, 10], ...signature, ...sandboxOptions };
    const sandbox = outsideOfProduction(() => createSandbox(settings));
    closers.push(() => sandbox.close());
    await sandbox.start({ keepAlive: false });

    const folder = await mkdtemp(path.join(tmpdir(), "tillkit-testing-"));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const store = (givenStore ?? sqliteStore(path.join(folder, "test.db"))) as Payments<Covers, Tx>["store"];
    const nextEnd = watchRuns(store);
    const payments = outsideOfProduction(() =>
      kit.createPayments<Covers, Tx>({
        logger: false,
        ...options,
        // The sandbox's usual scheme covers every field, so the type `Covers` is right.
        signature: options.signature ?? (schemeOf(sandbox, kit, sandboxOptions?.signature) as never),
        dispatch: options.dispatch ?? { pollMs: 10, firstDelayMs: 10, maxDelayMs: 10, maxFailures: 3 },
        publicUrl,
        service: serviceOf(sandbox, kit),
        store,
      }),
    );
    closers.push(() => payments.close());
    const webhookUrl = publicUrl + payments.options.paths.webhook;
    if (!sandboxOptions?.webhookUrls) sandbox.registerWebhook(webhookUrl);
    app.use("/payments", kit.paymentRouter(payments));
    await payments.start({ keepAlive: false });
    return {
      payments,
      sandbox,
      pay: (request) =>
        keptAlive(async () => {
          const created = await payments.create(request);
          await sandbox.pay(created.clientId);
          return created;
        }),
      settled: () =>
        keptAlive(async () => {
          await untilDone(store, sandbox, nextEnd);
          checkSignatures(sandbox, webhookUrl);
          return store.dead({ revive: false, limit: 1000 });
        }),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Throws for options that `testPayments` sets itself, and for `dispatch: false`. */
function refuseOwnOptions(given: Readonly<Record<string, unknown>>): void {
  for (const option of ["publicUrl", "service"])
    if (given[option] !== undefined)
      throw optionInvalid(option, "is set by testPayments itself; leave it out.");
  if (given["dispatch"] === false)
    throw optionInvalid(
      "dispatch",
      "cannot be false: settled() waits for handlers, and nothing would call them.",
    );
}

/** Resolves when the sandbox sends no more webhooks and every dispatch is done or dead. */
async function untilDone<Tx>(
  store: PaymentStore<Tx>,
  sandbox: Sandbox,
  nextEnd: () => Promise<void>,
): Promise<void> {
  for (;;) {
    // `nextEnd` is called first, so that no end of a run is missed.
    const ended = nextEnd();
    await sandbox.settled();
    if ((await store.counts()).oldestUndoneAt === undefined) return;
    await ended;
  }
}

/** Runs `make` without NODE_ENV=production, under which the sandbox's credentials are refused. */
function outsideOfProduction<T>(make: () => T, environment = process.env): T {
  if (!isProduction(environment)) return make();
  environment.NODE_ENV = "test";
  try {
    return make();
  } finally {
    environment.NODE_ENV = "production";
  }
}

/**
 * Returns the service's options. Replaces the tokens' prefix `sandbox_`, which the kit refuses in production.
 */
function serviceOf(sandbox: Sandbox, kit: typeof index): PaymentServiceOptions {
  const tokens = kit.clientCredentials({ tokenUrl: sandbox.tokenUrl, ...sandbox.client });
  const [prefix, instead] = ["sandbox_", "of_the_sandbox_"];
  return {
    baseUrl: sandbox.url,
    accessToken: {
      get: async ({ refused, signal } = {}) =>
        (await tokens.get({ refused: refused?.replace(instead, prefix), signal })).replace(prefix, instead),
    },
    fetch: (address, init) => {
      const headers = new Headers(init?.headers);
      headers.set("Authorization", headers.get("Authorization")!.replace(instead, prefix));
      return fetch(address, { ...init, headers });
    },
  };
}

/** Keeps the process alive while a test waits for the result of `work`. */
async function keptAlive<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Returns the scheme with which the sandbox signs: the given one, or one that the sandbox made. */
function schemeOf({ signing }: Sandbox, kit: typeof index, given: unknown): unknown {
  const { scheme, secret, header, algorithm, merchantId, fields } = signing;
  if (scheme === "custom") return given;
  const hmac = { secret: secret!, header, algorithm };
  if (scheme === "hmac") return kit.hmacSignature(hmac);
  return kit.fieldsSignature({ ...hmac, merchantId, fields: fields as never });
}

/** Throws `sandbox_misused` if the kit refused the signature of an ordinary webhook at its last attempt. */
function checkSignatures({ deliveries }: Sandbox, url: string): void {
  const ordinary = deliveries.filter((one) => one.url === url && !one.scenario && !one.byHand);
  const statuses = new Map(ordinary.map(({ requestBody, status }) => [requestBody, status]));
  if (![...statuses.values()].includes(401)) return;
  const message = `The kit refused the signature of a webhook, so no handler ran for it. Give only one of the options signature and sandbox.signature, and do not rotate the sandbox's secret.`;
  throw new TillkitError("sandbox_misused", message);
}

async function serve(app: RequestListener, closers: (() => Promise<unknown>)[]): Promise<string> {
  const server: Server = createServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  server.unref().on("connection", (socket) => socket.unref());
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a function that waits for the next end of a transaction or of a handler's run. */
function watchRuns<Tx>(store: PaymentStore<Tx>): () => Promise<void> {
  let end!: () => void;
  let next!: Promise<void>;
  const watch = (): void => void (next = new Promise((resolve) => (end = resolve)));
  watch();
  const [transaction, runHandler] = [store.transaction.bind(store), store.runHandler.bind(store)];
  const note = (): void => {
    end();
    watch();
  };
  store.transaction = (run) => transaction(run).finally(note);
  store.runHandler = (run, finish) => runHandler(run, finish).finally(note);
  const runShared = store.runShared?.bind(store);
  if (runShared) store.runShared = (work) => runShared(work).finally(note);
  return () => next;
}
