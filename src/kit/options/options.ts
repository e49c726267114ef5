import { type Logger } from "pino";
import { type RetryOptions } from "../../dispatch/run-claim.js";
import { type ReturnView } from "../../checkout/handle-return.js";
import { type PaymentServiceOptions } from "../../service/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type SignedField } from "../../model/signed-fields.js";
import { type PaymentStore } from "../../store/index.js";

/** What the customer sees after the checkout. By default the kit's own pages are shown. */
export interface ReturnOptions {
  /**
   * The link back to the shop on the kit's pages. `{reference}` and `{clientId}` are replaced, escaped.
   * @default no link
   */
  backUrl?: string | undefined;
  /**
   * Redirects success returns (303) to this address instead of showing a page: an absolute http(s) address or a path on the
   * shop's own host, in which `{reference}` and `{clientId}` are replaced, escaped. The order page must read from its own
   * database whether the order is paid: a return is no proof of payment.
   */
  successUrl?: string | undefined;
  /** Redirects cancel returns, as `successUrl` does for success returns. */
  cancelUrl?: string | undefined;
  /** The shop's name on the kit's pages. @default none */
  shopName?: string | undefined;
  /**
   * Where customers can ask when a payment is delayed, failed, or does not fit: a mailbox, a telephone number, an https
   * address, or a short sentence. @default none
   */
  contact?: string | undefined;
  /**
   * The colour of links and buttons on the kit's pages: `#0b6650`. It is made darker on light pages, and lighter on dark
   * ones, until its contrast is 4.5 to 1. @default the kit's green
   */
  accent?: string | undefined;
  /** The shop's logo on the kit's pages: an https address, or a path on the shop's own host. @default none */
  logoUrl?: string | undefined;
  /** The label of the link to `backUrl`, in the shop's language. @default "Back to the shop", translated */
  backLabel?: string | undefined;
  /**
   * Renders the whole page in place of the kit's own. `nonce` is that of the response's Content-Security-Policy. Values of
   * `view` must be escaped.
   */
  render?: ((view: ReturnView, page: { nonce: string; language: string }) => string) | undefined;
}

/**
 * The router's addresses below its mount path. Each begins with `/`, has letters, digits, `.`, `_` and `-` between slashes,
 * and is neither the same as another one nor below it.
 */
export interface PathOptions {
  /** Where the service posts webhooks. @default "/webhook" */
  webhook?: string | undefined;
  /** Where the browser comes back after an approval; the token follows. @default "/success" */
  success?: string | undefined;
  /** Where the browser comes back after a cancel; the token follows. @default "/cancel" */
  cancel?: string | undefined;
}

/** Limits of the webhook endpoint. */
export interface WebhookOptions {
  /** The size of a body at most, in bytes. @default 65536 */
  limitBytes?: number | undefined;
  /** How long a webhook may wait for its commit before it is answered 503. @default 3000 */
  recordTimeoutMs?: number | undefined;
  /** How long the whole body may take to arrive before the answer is 408. @default 10000 */
  bodyTimeoutMs?: number | undefined;
  /**
   * How many webhooks that fail verification are answered 401 or 400, for each client address: `burst` in a row, then
   * `perMinute`. Later failures are answered 429. `false` sets no limit. Every webhook is verified, and one that verifies
   * is neither counted nor limited. @default \{ perMinute: 60, burst: 100 \}
   */
  failures?: FailureOptions | false | undefined;
}

/** The failures that one client address may make: `request.ip`, or its /64 for IPv6. */
export interface FailureOptions {
  /** The number of failures per minute. @default 60 */
  perMinute?: number | undefined;
  /** The number of failures in a row. @default 100 */
  burst?: number | undefined;
}

/** Where webhooks are spooled while the store cannot take them. */
export interface SpoolDirectoryOptions {
  /**
   * A directory on a local disk, created at the start. Several processes of one store may share it.
   * @default the store's own, beside the file of SQLite; required for other stores
   */
  directory?: string | undefined;
  /** The number of bytes in it at most. @default 67108864 (64 MiB) */
  maxBytes?: number | undefined;
}

/** When `payments.health()` changes its status. */
export interface HealthOptions {
  /**
   * How long the store may take none of the spooled webhooks before the health is `down`, for a liveness probe that
   * restarts the process. @default 300000 (5 minutes)
   */
  spoolingDownAfterMs?: number | undefined;
}

/** How handlers are called. */
export interface DispatchOptions extends Partial<RetryOptions> {
  /** The number of handlers that run at the same time in this process. @default 8 */
  concurrency?: number | undefined;
  /** How often to look for events that other processes recorded, and for retries. @default 1000 */
  pollMs?: number | undefined;
  /** How long a claim lasts without renewal; after a crash, or a lost answer, the handler runs again then. @default 5000 */
  leaseMs?: number | undefined;
  /** How long one run may take. @default 30000 */
  handlerTimeoutMs?: number | undefined;
  /** How many runs may be lost with their process before the dispatch is dead. @default 10 */
  maxLostLeases?: number | undefined;
}

/** When and how often the service is asked about payments. `lookup: true` takes all defaults. */
export interface LookupOptions {
  /**
   * How long after its creation a payment is looked up for the first time. The wait doubles with each lookup.
   * @default 120000 (2 minutes)
   */
  afterMs?: number | undefined;
  /** The wait between two lookups of one payment at most. @default 21600000 (6 hours) */
  maxDelayMs?: number | undefined;
  /** How long after its creation a payment is looked up for the last time. @default 259200000 (3 days) */
  giveUpAfterMs?: number | undefined;
  /** The number of lookups of this process in one second at most. @default 5 */
  perSecond?: number | undefined;
  /**
   * How long after a success return the payment is looked up, where no webhook has arrived.
   * @default 3000
   */
  afterReturnMs?: number | undefined;
  /** How long one lookup may take, the access token included. @default 10000 */
  timeoutMs?: number | undefined;
}

/** Everything that {@link createPayments} takes. `undefined` is accepted by type and refused where it is required. */
export interface PaymentsOptions<Covers extends SignedField = SignedField, Tx = unknown> {
  /** Where the service and browsers reach the router: `https://shop.example/payments`. */
  publicUrl: string | undefined;
  /** The payment service. */
  service: PaymentServiceOptions;
  /** How webhooks are verified. Verification cannot be switched off. */
  signature: SignatureScheme<Covers> | undefined;
  /** Where payments, webhooks and dispatches are stored. */
  store: PaymentStore<Tx> | undefined;
  paths?: PathOptions | undefined;
  webhook?: WebhookOptions | undefined;
  /**
   * A local directory for verified webhooks while the store cannot take them, so that they are still answered 200.
   * `false`: no spool, and such webhooks are answered 503. @default beside the file for SQLite, else no spool
   */
  spool?: SpoolDirectoryOptions | false | undefined;
  health?: HealthOptions | undefined;
  returns?: ReturnOptions | undefined;
  /**
   * How handlers are called. `false`: this process registers its handlers, and other processes call them, such as a worker
   * that runs the same code with `start()`.
   */
  dispatch?: DispatchOptions | false | undefined;
  /** How long `create` returns the open attempt of a reference again. @default 900000 (15 minutes) */
  reuseForMs?: number | undefined;
  /** The age at which an open payment raises `payment.overdue`. @default 86400000 (one day) */
  overdueMs?: number | undefined;
  /** How often to look for overdue payments, parked webhooks and due lookups. @default 60000 */
  sweepMs?: number | undefined;
  /** How long a webhook may wait for its payment before `payment.unmatched` is raised. @default 300000 (5 minutes) */
  unmatchedAfterMs?: number | undefined;
  /**
   * What the clientIds of this shop begin with: 1 to 24 characters of A-Z a-z 0-9 . _ : - A webhook with another, unknown
   * clientId is another shop's: it is recorded as `foreign`, counted, and not raised. @default none
   */
  clientIdPrefix?: string | undefined;
  /** Asks the service with `GET /v1/payments/{id}`, which the interface document does not show. @default false */
  lookup?: LookupOptions | boolean | undefined;
  /** `"lookup"`: where only fields are signed, a completion is applied after a lookup has confirmed it. @default none */
  confirm?: "lookup" | undefined;
  /** A pino logger; `false` for no log. @default a new logger that writes JSON lines to standard output */
  logger?: Logger | false | undefined;
  /** The clock; for tests. Leases and retries go by the database's clock instead. */
  now?: (() => Date) | undefined;
}

/** Options that `paymentRouter` completes from the environment. In `service` and `returns` too, each name can be left out. */
export interface PartialOptions<Covers extends SignedField, Tx> extends Partial<
  Omit<PaymentsOptions<Covers, Tx>, "service">
> {
  service?: Partial<PaymentServiceOptions> | undefined;
}
