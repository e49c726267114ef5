import { pino } from "pino";
import { adoptPayment } from "../operations/adopt-payment.js";
import { createPayment } from "../checkout/create-payment.js";
import { Dispatcher } from "../dispatch/dispatcher.js";
import { type HandlerOptions } from "../dispatch/handler.js";
import { Handlers, type AnyHandler } from "../dispatch/handlers.js";
import { logNotices } from "../dispatch/log-notices.js";
import { Notices } from "../dispatch/notices.js";
import { eventTypes, type EventType, type NoticeType } from "../model/event-map.js";
import { handleReturn } from "../checkout/handle-return.js";
import { listPayments } from "../operations/list-payments.js";
import { newId } from "../shared/new-id.js";
import { firstLookupAt } from "./options/lookup-options.js";
import { checkHealth, countRejections } from "../operations/health.js";
import { type PaymentsOptions } from "./options/options.js";
import { resolveOptions } from "./options/resolve-options.js";
import { paymentHistory } from "../operations/payment-history.js";
import { type Payments } from "./payments.js";
import { pruneRecords } from "../operations/prune-records.js";
import { receiveWebhook } from "../webhook/receive-webhook.js";
import { createRecorder } from "../webhook/recording/recorder.js";
import { keepWebhooks } from "../webhook/recording/keep-webhook.js";
import { rematchParked } from "../webhook/recording/rematch.js";
import { replayDispatches } from "../operations/replay-dispatches.js";
import { replayWebhooks } from "../operations/replay-webhooks.js";
import { resolvePayment } from "../operations/resolve-payment.js";
import { createLookups } from "../operations/lookup/lookups.js";
import { createPaymentReader, createPaymentService } from "../service/index.js";
import { type SignedField } from "../model/signed-fields.js";
import { openSpool } from "../webhook/spool/index.js";
import { startup } from "./open-store.js";
import { reconcileStatement } from "../statement/index.js";
import { sweepPayments, type Swept } from "../operations/sweep-payments.js";

export { type Payments } from "./payments.js";

const drainMs = 10_000;

/**
 * Puts the kit together. Does no I/O: the store is opened by the router or by `start()`.
 *
 * @throws ConfigurationError with every problem at once.
 */
export function createPayments<Covers extends SignedField, Tx>(
  given: PaymentsOptions<Covers, Tx>,
): Payments<Covers, Tx> {
  const options = resolveOptions(given);
  const { store, signature: scheme, now, dispatch } = options;
  const logger = options.logger || pino({ name: "tillkit", enabled: options.logger !== false });

  const handlers = new Handlers<Tx>();
  const { add: addListener, notify } = new Notices();
  logNotices(addListener, logger);
  const rejections = countRejections(addListener);
  for (const warning of scheme.warnings ?? []) logger.warn({ option: "signature" }, warning);

  const ready = startup({
    store,
    handlers,
    onWarning: (warning) => logger.warn({ option: "store" }, warning),
  });
  const dispatcher = new Dispatcher({ ...dispatch, retry: dispatch, store, handlers, notify, ready });
  const parts = {
    store,
    now,
    newId,
    ready,
    policy: {
      clientIdPrefix: options.clientIdPrefix,
      confirms: options.confirm === "lookup",
      hasGrace: store.stray !== undefined,
    },
    onEvents: () => dispatcher.wake(),
  };
  const rematch = async (clientIds: readonly string[]): Promise<void> => {
    if ((await rematchParked(parts, clientIds)) > 0) dispatcher.wake();
  };
  const spool =
    options.spool &&
    openSpool({
      ...options.spool,
      now,
      onSetAside: ({ message: reason }, file) => notify("webhook.set_aside", { reason, file }),
    });
  let foreign = 0;
  const { record, recordTogether, isStuck, matched } = createRecorder({
    ...parts,
    onRecorded: (receipts) => {
      for (const { outcome, clientId } of receipts) {
        if (outcome === "foreign") foreign += 1;
        if (outcome === "unconfirmed") lookups?.soon(clientId!);
      }
    },
    deadlineMs: options.webhook.recordTimeoutMs,
  });
  const probe = () => store.transaction(() => Promise.resolve());
  const keeping = keepWebhooks({ record, recordTogether, spool, probe, notify, drainMs: dispatch.pollMs });
  const receiving = { scheme, now, newId, record: keeping.keep };
  const creating = {
    ...options,
    ...parts,
    service: createPaymentService(options.service),
    firstLookupAt: (createdAt: Date) => firstLookupAt(createdAt, options.lookup),
    // The token, the request and a second try after a 401 share one deadline; the rest is the store's.
    creationMs: (options.service.timeoutMs ?? 10_000) + 5000,
    rematch,
  };
  const lookups =
    options.lookup &&
    createLookups({
      ...options.lookup,
      ...parts,
      reader: createPaymentReader(options.service, options.lookup.timeoutMs),
      covers: scheme.covers,
      mostPerSweep: Math.ceil((options.lookup.perSecond * options.sweepMs) / 1000),
      record,
      notify,
    });
  const onSuccess = (clientId: string): void => lookups?.afterReturn(clientId);
  const { overdueMs, unmatchedAfterMs } = options;
  const sweepOnce = async () => {
    // What it raises must find the handlers of this process known.
    await ready();
    // A webhook that is being matched is locked, and would be passed over.
    await matched();
    const lookUp = async () => lookups?.sweep() ?? 0;
    return sweepPayments({ ...parts, overdueMs, unmatchedAfterMs, rematch, lookUp });
  };
  let sweepUnderWay: Promise<Swept> | undefined;
  const sweep = () => (sweepUnderWay ??= sweepOnce().finally(() => (sweepUnderWay = undefined)));
  const probes = { store, spool, isStuck, rejections, foreign: () => foreign };
  let sweeping: NodeJS.Timeout | undefined;
  let closed = false;
  let stopWaking: (() => void) | undefined;

  const subscribe = (event: EventType | "*", handler: unknown, named: HandlerOptions | undefined): void => {
    handlers.add(event, handler as AnyHandler<Tx>, named);
    dispatcher.wake();
  };
  const on = (type: EventType | NoticeType, handler: unknown, named?: HandlerOptions): void => {
    if (isEventType(type)) subscribe(type, handler, named);
    else addListener(type, handler as () => void);
  };

  return Object.freeze<Payments<Covers, Tx>>({
    create: (request) => createPayment(creating, request),
    adopt: (adoption) => adoptPayment({ ...parts, rematch }, adoption),
    resolve: (resolution) => resolvePayment(parts, resolution),
    find: (clientId) => store.find(clientId),
    list: (query) => listPayments(store, query),
    history: (clientId) => paymentHistory(store, clientId),
    replay: (query) => replayWebhooks(parts, query),
    replayDispatches: (query) => replayDispatches(parts, query),
    reconcile: (rows, { clientIdPrefix = options.clientIdPrefix, ...others } = {}) =>
      reconcileStatement(store, rows, { clientIdPrefix, ...others }),

    onPaymentCompleted: (handler, named) => on("payment.completed", handler, named),
    on,
    onAny: (handler, named) => subscribe("*", handler, named),

    async start({ keepAlive = true } = {}) {
      if (closed) return;
      if (options.dispatches) dispatcher.start({ keepAlive });
      stopWaking ??= store.wake?.(() => dispatcher.wake());
      // A sweep that fails is repeated by the next; the store's trouble is told of by what depends on it.
      sweeping ??= setInterval(() => void sweep().catch(() => {}), options.sweepMs).unref();
      keeping.start();
      await ready();
    },
    async close() {
      closed = true;
      clearInterval(sweeping);
      stopWaking?.();
      await lookups?.close();
      // What it raises is on record or will be raised by the next.
      await sweepUnderWay?.catch(() => {});
      await dispatcher.stop(drainMs);
      await keeping.close();
      await store.close?.();
    },

    receiveWebhook: (request) => receiveWebhook(receiving, request),
    handleReturn: (request) => handleReturn({ store, now, onSuccess }, request),
    notify,
    sweep,

    health: () => checkHealth({ ...probes, now, timeoutMs: 2000, lateMs: 60_000 }),
    prune: ({ before }) => pruneRecords(store, before),

    store,
    options,
    logger,
  });
}

function isEventType(type: EventType | NoticeType): type is EventType {
  return (eventTypes as readonly string[]).includes(type);
}
