import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import express, { type Express } from "express";
import {
  createPayments,
  hmacSignature,
  MemoryStore,
  paymentRouter,
  type Payments,
  type PaymentsOptions,
  type SignedField,
} from "tillkit";

/** A secret in the form of a service's secrets. */
export const secret = "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b";

/** The default scheme of the tests. */
export const scheme = hmacSignature({ secret });

type Overrides<Covers extends SignedField, Tx> = Partial<PaymentsOptions<Covers, Tx>>;

/** A busy machine can stop a process for seconds. A test that waits for one of these limits sets it. */
const webhook = { recordTimeoutMs: 60_000 };
const dispatch = { leaseMs: 60_000 };

/** Returns complete options: a silent kit in memory, with a service that cannot be reached. */
export function testOptions<Covers extends SignedField = SignedField, Tx = unknown>(
  overrides: Overrides<Covers, Tx> = {},
): PaymentsOptions<Covers, Tx> {
  return {
    publicUrl: "https://shop.example/payments",
    service: { baseUrl: "https://pay.invalid", accessToken: "a-token" },
    signature: scheme as never,
    store: new MemoryStore() as never,
    logger: false,
    ...overrides,
    webhook: withDefaults(webhook, overrides.webhook),
    dispatch: withDefaults(dispatch, overrides.dispatch),
  };
}

/** Adds defaults to a group of options. Whatever is not a plain object, such as `false`, stays as it is. */
function withDefaults<Group>(defaults: object, given: Group): Group {
  if (given === undefined) return defaults as Group;
  const plain = given !== null && Object.getPrototypeOf(given) === Object.prototype;
  return plain ? { ...defaults, ...given } : given;
}

/** Makes a kit for a test. {@link closeAll} closes it. */
export function testKit<Covers extends SignedField = SignedField, Tx = unknown>(
  overrides: Overrides<Covers, Tx> = {},
): Payments<Covers, Tx> {
  const payments = createPayments<Covers, Tx>(testOptions(overrides));
  closers.push(() => payments.close());
  return payments;
}

/** Returns an application with only the kit, at `/payments`. */
export function appOf<Covers extends SignedField, Tx>(payments: Payments<Covers, Tx>): Express {
  const app = express();
  app.use("/payments", paymentRouter(payments));
  return app;
}

/** Serves an application on a free port. Resolves with its address. */
export async function serve(app: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(app);
  // The default backlog of 511 lets the system reset connections where a busy process accepts a thousand late.
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", 4096, resolve));
  closers.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const closers: (() => Promise<unknown>)[] = [];

/** Closes all kits and servers of a test. Call it in `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}
