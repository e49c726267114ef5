import { type Logger } from "pino";
import { type RetryOptions } from "../../dispatch/handler.js";
import { type PaymentServiceOptions } from "../../service/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type SignedField } from "../../model/signed-fields.js";
import { type PaymentStore } from "../../store/index.js";
import { type SqlPaymentStore, type SqlTx } from "../../store/sql/index.js";
import { type ReturnOptions } from "./return-options.js";

/**
 * The router's paths, relative to its mount path. Each path begins with `/`, has letters, digits, `.`, `_`
 * and `-` between slashes, and neither equals nor continues another path.
 */
export interface PathOptions {
  /** The address to which the service posts webhooks. @default "/webhook" */
  webhook?: string | undefined;
  /** The address to which the browser comes back after an approval; the token follows. @default "/success" */
  success?: string | undefined;
  /** The address to which the browser comes back after a cancel; the token follows. @default "/cancel" */
  cancel?: string | undefined;
}

/** Limits of the webhook endpoint. */
export interface WebhookOptions {
  /** The maximum size of a body, in bytes. @default 65536 */
  limitBytes?: number | undefined;
  /**
   * The maximum time of a webhook's commit. After this time, the webhook goes to the spool. Without a spool,
   * the answer is 503. @default 3000
   */
  recordTimeoutMs?: number | undefined;
  /**
   * The maximum time in which the complete body must arrive. After this time, the answer is 408. @default
   * 10000
   */
  bodyTimeoutMs?: number | undefined;
  /**
   * The limit of failed verifications for one sender's address: `burst` failures in a row, then `perMinute`
   * failures a minute. Over the limit, the answer is 429. `false` sets no limit. Valid webhooks are never
   * limited.
   * @default `{ perMinute: 60, burst: 100 }`
   */
  failures?: FailureOptions | false | undefined;
  /**
   * A directory in which the kit keeps refused webhooks for `npx tillkit verify`: the newest 100 webhooks,
   * for a week, with at most 8 MiB.
   *
   * These webhooks contain data about customers, so the kit refuses a directory in production without
   * `inProduction: true`. In the variable, this setting follows the path: `./refused?inProduction=true`.
   * @default no webhook is kept
   * @see docs/webhook-refused.md#what-is-kept
   */
  keepRefused?: string | KeepRefusedOptions | undefined;
}

/** The place of refused webhooks, with the permission to keep them in production. */
export interface KeepRefusedOptions {
  /** A directory on a local disk, created at the start, for this user only. */
  directory: string;
  /** Keeps refused webhooks although NODE_ENV is production. @default false */
  inProduction?: boolean | undefined;
}

/** The failures that one client address may make: `request.ip`, or its /64 for IPv6. */
export interface FailureOptions {
  /** The number of failures per minute. @default 60 */
  perMinute?: number | undefined;
  /** The number of failures in a row. @default 100 */
  burst?: number | undefined;
}

/** The place of webhooks that the store cannot record. */
export interface SpoolDirectoryOptions {
  /**
   * A directory on a local disk, which the kit creates at the start. Several processes of one store may share
   * the directory.
   * @default `shop.db-spool` for `shop.db`; required for other stores
   */
  directory?: string | undefined;
  /** The maximum size of the spool, in bytes. @default 67108864 (64 MiB) */
  maxBytes?: number | undefined;
}

/** The time after which `payments.health()` changes its status. */
export interface HealthOptions {
  /**
   * The time after which the health status is `down`, if webhooks wait in the spool and the store accepts
   * none of them.
   *
   * A liveness probe then restarts the process.
   * @default 300000 (5 minutes)
   * @see docs/operations.md#health
   */
  spoolingDownAfterMs?: number | undefined;
}

/** Times and limits of handlers' runs. */
export interface DispatchOptions extends Partial<RetryOptions> {
  /**
   * The maximum number of handlers that run at the same time in this process, unless there are more handler
   * names. Each name gets an equal share of this number, at least one. @default 8
   */
  concurrency?: number | undefined;
  /** The interval at which the kit looks for events of other processes, and for retries. @default 1000 */
  pollMs?: number | undefined;
  /**
   * The time for which a claim of a dispatch is valid if the process does not renew the claim. After a crash,
   * the handler runs again when the claim ends. @default 5000
   */
  leaseMs?: number | undefined;
  /** The maximum time of one run of a handler. @default 30000 */
  handlerTimeoutMs?: number | undefined;
  /**
   * The number of runs whose process can crash or lose the lease before the dispatch is dead. @default 10
   */
  maxLostLeases?: number | undefined;
}

/** Times and limits of lookups. `lookup: true` uses all defaults. */
export interface LookupOptions {
  /**
   * The age of a payment at its first lookup. The wait doubles with each lookup.
   * @default 120000 (2 minutes)
   */
  afterMs?: number | undefined;
  /** The maximum wait between two lookups of one payment. @default 21600000 (6 hours) */
  maxDelayMs?: number | undefined;
  /** The age of a payment at its last lookup. @default 259200000 (3 days) */
  giveUpAfterMs?: number | undefined;
  /** The maximum number of lookups of this process in one second. @default 5 */
  perSecond?: number | undefined;
  /**
   * The wait between the customer's return to the success address and a lookup of the payment, if no webhook
   * has arrived. @default 3000
   */
  afterReturnMs?: number | undefined;
  /** The maximum time of one lookup, including the request for the access token. @default 10000 */
  timeoutMs?: number | undefined;
}

/**
 * A store: one of `sqliteStore`, `postgresStore`, `mysqlStore` or `storeOver`, or any other {@link
 * PaymentStore}. If another value is given, the compiler's message contains the name of this type.
 */
export interface SqlStoreOrStoreOver<Tx = unknown> extends PaymentStore<Tx> {}

/** The members of a store in addition to the contract: `query` for a SQL store, none for any other store. */
export type SqlPart<Tx> = [Tx] extends [SqlTx<infer Raw>] ? SqlPaymentStore<Raw> : unknown;

/**
 * Everything that {@link createPayments} takes. The types accept `undefined`, and the kit refuses `undefined`
 * for a required option.
 */
export interface PaymentsOptions<Covers extends SignedField = SignedField, Tx = unknown> {
  /** The public address of the router, including its mount path: `https://shop.example/payments`. */
  publicUrl: string | undefined;
  /** The payment service: its address, and the access token. */
  service: PaymentServiceOptions;
  /** The scheme that verifies webhooks. Verification cannot be switched off. @see docs/signatures.md */
  signature: SignatureScheme<Covers> | undefined;
  /** The store of payments, webhooks and dispatches. @see docs/stores.md */
  store: (SqlStoreOrStoreOver<Tx> & SqlPart<Tx>) | undefined;
  /**
   * The router's paths, relative to its mount path.
   * @default `{ webhook: "/webhook", success: "/success", cancel: "/cancel" }`
   * @see docs/operations.md#mounting
   */
  paths?: PathOptions | undefined;
  /** Limits of the webhook endpoint. @default the defaults of its fields */
  webhook?: WebhookOptions | undefined;
  /**
   * A local directory that keeps verified webhooks while the store is not available. The kit answers these
   * webhooks with 200. With `false`, there is no spool, and the answer is 503.
   * @default beside the file for SQLite, else none
   */
  spool?: SpoolDirectoryOptions | false | undefined;
  /** The time after which `payments.health()` changes its status. @default the defaults of its fields */
  health?: HealthOptions | undefined;
  /** The pages for customers who come back from the checkout. @default the kit's pages */
  returns?: ReturnOptions | undefined;
  /**
   * The times and limits of handlers' runs. With `false`, this process calls no handlers.
   *
   * The handlers of this process are registered, and other processes call these handlers, such as a worker
   * that runs the same code with `start()`.
   * @default the defaults of its fields
   */
  dispatch?: DispatchOptions | false | undefined;
  /**
   * The time after the creation of an attempt during which `create` returns this open attempt again.
   * @default 900000 (15 minutes)
   */
  reuseForMs?: number | undefined;
  /**
   * The time that a payment may be open before the kit raises `payment.overdue`. @default 86400000 (one day)
   */
  overdueMs?: number | undefined;
  /**
   * The interval at which the kit looks for overdue payments, parked webhooks and due lookups. @default 60000
   */
  sweepMs?: number | undefined;
  /**
   * The time that a webhook may wait for its payment or its lookup before the kit raises `payment.unmatched`
   * or `payment.unconfirmed`. @default 300000 (5 minutes)
   */
  unmatchedAfterMs?: number | undefined;
  /**
   * The time that an entry may need a person before the kit raises `attention.reminder`. @default 86400000
   * (one day)
   */
  attentionReminderMs?: number | undefined;
  /**
   * The prefix of this shop's clientIds. Webhooks of other shops get the outcome `foreign`, and raise no
   * event.
   *
   * The prefix has 1 to 24 characters of A-Z a-z 0-9 . _ : -
   * @default none
   */
  clientIdPrefix?: string | undefined;
  /**
   * Lets the kit ask the service about payments with `GET /v1/payments/{id}`. The interface document does not
   * show this request. Give `true`, or an object that says when and how often the kit asks. @default false
   * @see docs/reconciliation.md#lookups
   */
  lookup?: LookupOptions | boolean | undefined;
  /**
   * With `"lookup"`, a lookup must confirm each completion, unless the signature covers the whole body.
   * @default none
   * @see docs/reconciliation.md#a-second-opinion
   */
  confirm?: "lookup" | undefined;
  /** A pino logger, or `false` for no log. @default JSON lines on standard output */
  logger?: Logger | false | undefined;
  /** The clock, for tests. Leases and retries use the database's clock. @default the system's clock */
  now?: (() => Date) | undefined;
}

/**
 * Options that `paymentRouter` completes from the environment. Every option can be left out, including each
 * single option in `service`, `webhook` and `returns`.
 */
export interface PartialOptions<Covers extends SignedField, Tx> extends Partial<
  Omit<PaymentsOptions<Covers, Tx>, "service">
> {
  /**
   * The payment service. Options that you leave out come from the environment. @default all from the
   * environment
   */
  service?: Partial<PaymentServiceOptions> | undefined;
}
