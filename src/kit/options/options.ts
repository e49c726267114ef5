import { type Logger } from "pino";
import { type RetryOptions } from "../../dispatch/retry-delay.js";
import { type ReturnView } from "../../checkout/handle-return.js";
import { type LookupOptions } from "./lookup-options.js";
import { type PaymentServiceOptions } from "../../service/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type SignedField } from "../../model/signed-fields.js";
import { type PaymentStore } from "../../store/index.js";

/** What the customer sees after the checkout. Without any of it, the kit's own pages are shown. */
export interface ReturnOptions {
  /**
   * Where the kit's pages link back to. `{reference}` and `{clientId}` are filled in, escaped.
   * @default no link
   */
  backUrl?: string | undefined;
  /**
   * Redirects success returns (303) here instead of showing a page. An absolute http(s) address or a path on the
   * shop's own host; `{reference}` and `{clientId}` are filled in, escaped. The customer's order page must ask its own
   * database whether the order is paid: a return is no proof.
   */
  successUrl?: string | undefined;
  /** The same for cancel returns. */
  cancelUrl?: string | undefined;
  /** The shop's name on the kit's pages. @default none */
  shopName?: string | undefined;
  /**
   * Renders the whole page in place of the kit's own. `nonce` is that of the response's Content-Security-Policy; what
   * comes from `view` must be escaped.
   */
  render?: ((view: ReturnView, page: { nonce: string; language: string }) => string) | undefined;
}

/** How the webhook endpoint receives. */
export interface WebhookOptions {
  /** Largest body, in bytes. A number, so that no text can be misread as "no limit". @default 65536 */
  limitBytes?: number | undefined;
  /** How long a webhook may wait for its commit before it is answered 503. @default 3000 */
  recordTimeoutMs?: number | undefined;
  /** How long the whole body may take to arrive before the answer is 408. @default 10000 */
  bodyTimeoutMs?: number | undefined;
  /**
   * How many webhooks that do not verify are answered 401 or 400, for each client address: `burst` at once, and
   * `perMinute` after that. Beyond, the answer to such a failure is 429; `false`: never. Every webhook is verified
   * all the same, and a good one is neither counted nor limited. @default \{ perMinute: 60, burst: 100 \}
   */
  failures?: FailureOptions | false | undefined;
}

/** The budget of failures of one client address: `request.ip`, or its /64 for IPv6. */
export interface FailureOptions {
  /** @default 60 */
  perMinute?: number | undefined;
  /** @default 100 */
  burst?: number | undefined;
}

/** Where webhooks wait for the store. */
export interface SpoolDirectoryOptions {
  /** On a local disk; made when it is first needed. Several processes may share it. */
  directory: string | undefined;
  /** Most bytes in it. @default 67108864 (64 MiB) */
  maxBytes?: number | undefined;
}

/** How handlers are called. */
export interface DispatchOptions extends Partial<RetryOptions> {
  /** Handlers running at once in this process. @default 8 */
  concurrency?: number | undefined;
  /** How often to look for work that nobody announced. @default 1000 */
  pollMs?: number | undefined;
  /** How long a claim lasts without renewal: after a crash, the next run comes so much later. @default 10000 */
  leaseMs?: number | undefined;
  /** How long one run may take. @default 30000 */
  handlerTimeoutMs?: number | undefined;
  /** Runs that may end with the process, before the dispatch is dead. @default 10 */
  maxLostLeases?: number | undefined;
}

/** Everything that {@link createPayments} takes. `undefined` is accepted by type and refused where it is required. */
export interface PaymentsOptions<Covers extends SignedField = SignedField, Tx = unknown> {
  /** Where the router is reached from outside: `https://shop.example/payments`. */
  publicUrl: string | undefined;
  /** The payment service. */
  service: PaymentServiceOptions;
  /** How webhooks are verified. There is no way to switch verification off. */
  signature: SignatureScheme<Covers> | undefined;
  /** Where payments, webhooks and dispatches are kept. */
  store: PaymentStore<Tx> | undefined;
  webhook?: WebhookOptions | undefined;
  /**
   * A local directory that takes verified webhooks while the store cannot, so that they are still answered 200.
   * `false`: none, and such webhooks are answered 503. @default beside the file for SQLite, else none
   */
  spool?: SpoolDirectoryOptions | false | undefined;
  returns?: ReturnOptions | undefined;
  /**
   * How handlers are called. `false`: this process makes its handlers known, and leaves calling them to
   * others, such as a worker that runs the same code with `start()`.
   */
  dispatch?: DispatchOptions | false | undefined;
  /** How long an open attempt is handed out again when its reference is asked for. @default 900000 (15 minutes) */
  reuseForMs?: number | undefined;
  /** After how long an open payment raises `payment.overdue`. @default 86400000 (one day) */
  overdueMs?: number | undefined;
  /** How often to look for overdue payments, parked webhooks and due lookups. @default 60000 */
  sweepMs?: number | undefined;
  /** How long a webhook may wait for its payment before `payment.unmatched` is raised. @default 300000 (5 minutes) */
  unmatchedAfterMs?: number | undefined;
  /**
   * What the clientIds of this shop begin with, at most 24 of A-Z a-z 0-9 . _ : - A webhook with an unknown clientId that
   * does not is another shop's: recorded as `foreign`, counted, and not raised. @default none
   */
  clientIdPrefix?: string | undefined;
  /** Asks the service with `GET /v1/payments/{id}`, which the interface document does not show. @default off */
  lookup?: LookupOptions | boolean | undefined;
  /** `"lookup"`: where only fields are signed, a completion is applied when a lookup says so too. @default none */
  confirm?: "lookup" | undefined;
  /** A pino logger; `false` for silence. @default a new one, writing JSON lines to standard output */
  logger?: Logger | false | undefined;
  /** The clock; for tests. Leases and retries go by the database's clock instead. */
  now?: (() => Date) | undefined;
}
