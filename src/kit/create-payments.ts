import { TillkitError } from "../errors/index.js";
import { openCheckout, type CheckoutParts } from "../checkout/create-payment.js";
import { claimPayment, handleReturn } from "../checkout/handle-return.js";
import { Dispatcher } from "../dispatch/dispatcher.js";
import { type HandlerOptions } from "../dispatch/handler.js";
import { type AnyHandler } from "../dispatch/handlers.js";
import { eventTypes, type EventType } from "../model/event-map.js";
import { noticeTypes, type NoticeType } from "../model/notice-map.js";
import { type SignedField } from "../model/signed-fields.js";
import { adoptPayment } from "../operations/adopt-payment.js";
import {
  limitHandler,
  listHandlers,
  pauseHandler,
  resumeHandler,
} from "../operations/handlers/control-handler.js";
import { createAnnouncer } from "../operations/attention/announce.js";
import { attend } from "../operations/attention/attend.js";
import { listAttention } from "../operations/attention/list-attention.js";
import { openEntries } from "../operations/attention/open-entries.js";
import { createHealthCheck, type Health } from "../operations/health.js";
import { listPayments } from "../operations/reading/list-payments.js";
import { type LookupParts, Lookups } from "../operations/lookup/lookups.js";
import { findPayment } from "../operations/reading/find-payment.js";
import { paymentFigures } from "../operations/reading/payment-figures.js";
import { paymentHistory } from "../operations/reading/payment-history.js";
import { pruneRecords } from "../operations/prune-records.js";
import { replayDispatches, revivedDispatches } from "../operations/replay/replay-dispatches.js";
import { replayWebhooks } from "../operations/replay/replay-webhooks.js";
import { retireHandler } from "../operations/retire-handler.js";
import { resolvePayment } from "../operations/resolution/resolve-payment.js";
import { createSilenceWatch } from "../operations/sweep/silence-watch.js";
import { createSweeper } from "../operations/sweep/sweep-payments.js";
import { suggestion } from "../shared/unknown-names.js";
import { createPaymentReader, createPaymentService } from "../service/index.js";
import { createIntake } from "../webhook/intake.js";
import { type Arrival } from "../webhook/recording/arrival.js";
import { receiveWebhook } from "../webhook/receive-webhook.js";
import { rematch } from "../webhook/recording/rematch.js";
import { withCheckedArguments } from "./options/check-arguments.js";
import { createBackground } from "./background.js";
import { createCore, type Core } from "./core.js";
import { fillDefaults } from "./options/option-table.js";
import { type PaymentsOptions } from "./options/options.js";
import { resolveOptions, type ResolvedOptions } from "./options/resolve-options.js";
import { type Payments } from "./payments.js";
import { deferredComparison } from "./deferred-comparison.js";
import { type PaymentStore } from "../store/index.js";
import { identifier, StoreWatch } from "./watch-store.js";

/**
 * Creates the kit from its options. Does no I/O: the router or `start()` opens the store later.
 *
 * @throws ConfigurationError with every problem of the options.
 */
export function createPayments<Covers extends SignedField, Tx>(
  given: PaymentsOptions<Covers, Tx>,
): Payments<Covers, Tx> {
  const options = resolveOptions(given);
  const core = createCore(options);
  const { store, now, newId } = core;
  const dispatcher = createDispatcher(core, options);
  // A store that is not durable is a new store after each start, so it has no identity.
  const identify = store.durable ? identifier(core, options.webhook.recordTimeoutMs) : undefined;
  const intake = createIntake(core, {
    ...options.webhook,
    spool: options.spool,
    drainMs: options.dispatch.pollMs,
    identify,
    onRecorded: (receipts) => watch.noteRecorded(receipts),
  });
  const cautious = { ...core, cautiousNow: () => core.clock.cautious(now()) };
  const lookups = createLookups(cautious, options, intake);
  const isWanted = () => core.handlers.keys().some(({ event }) => event.startsWith("attention."));
  const { unmatchedAfterMs, attentionReminderMs } = options;
  const announce = createAnnouncer({ ...cautious, unmatchedAfterMs, isWanted }, attentionReminderMs);
  const silence = createSilenceWatch(cautious);
  const sweeper = createSweeper(cautious, options, { recorder: intake.recorder, lookups, announce, silence });
  const watch: StoreWatch<Tx> = new StoreWatch({
    ...core,
    spool: intake.spool,
    identify,
    onWentBack: () => void sweeper.sweep().catch(() => {}),
  });
  const background = createBackground(core, options, { dispatcher, intake, lookups, sweeper, watch });
  const subscriptions = createSubscriptions<Covers, Tx>(core, dispatcher);
  const create = openCheckout({ ...checkoutParts(core, options), onCreated: (id) => watch.noteCreated(id) });
  const receiving = {
    scheme: options.signature,
    now,
    newId,
    keep: (arrival: Arrival) => intake.keeper.keep(arrival),
    refused: core.refused,
  };
  const health = createHealthCheck(core, intake, {
    ...options.health,
    unmatchedAfterMs,
    hanging: () => dispatcher.hanging,
    sweepFailure: sweeper.failure,
    wentBack: () => watch.problem,
    silence: silence.problem,
    runs: (name, event) => options.dispatches && core.handlers.has(name, event),
  });

  const methods: Payments<Covers, Tx> = {
    create,
    receiveWebhook: (request) => receiveWebhook(receiving, request),
    ...customerReturns(core, lookups),
    ...subscriptions,

    ...readers(store),
    adopt: (adoption) => adoptPayment(core, adoption),
    resolve: (resolution) => resolvePayment(core, resolution),
    replay: (query) => replayWebhooks({ ...core, ...receiving, ...intake }, query),
    compareStatement: (rows, { clientIdPrefix = options.clientIdPrefix, ...others } = {}) =>
      deferredComparison(store, rows, { clientIdPrefix, ...others }),

    sweep: () => sweeper.sweep(),
    health,
    ...attentionMethods(core, options, health),
    ...handlerControls(core, dispatcher),
    prune: (query) => pruneRecords(store, query),
    backup: async (file) => {
      if (store.backup) return store.backup(file);
      throw new TillkitError("backup_unsupported", "The store cannot be copied to a file.");
    },
    ...background,

    notify: core.notify,
    logger: core.logger,
    store: options.store,
    options,
  };
  return Object.freeze(withCheckedArguments(methods));
}

function createDispatcher<Covers extends SignedField, Tx>(
  core: Core<Tx>,
  { dispatch }: ResolvedOptions<Covers, Tx>,
): Dispatcher<Tx> {
  const { store, handlers, notify, ready, now } = core;
  const dispatcher = new Dispatcher({ ...dispatch, retry: dispatch, store, handlers, notify, ready, now });
  core.onEvents(() => dispatcher.wake());
  return dispatcher;
}

function createLookups<Covers extends SignedField, Tx>(
  parts: Core<Tx> & LookupParts<Tx>,
  { lookup, service, signature, sweepMs }: ResolvedOptions<Covers, Tx>,
  intake: ReturnType<typeof createIntake>,
): Lookups<Tx> | undefined {
  if (!lookup) return undefined;
  const lookups = new Lookups(
    parts,
    { ...lookup, sweepMs, covers: signature.covers },
    {
      reader: createPaymentReader(service, lookup.timeoutMs),
      record: (arrival) => intake.recorder.record(arrival),
    },
  );
  intake.onUnconfirmed((clientId) => lookups.askNow(clientId));
  return lookups;
}

function checkoutParts<Covers extends SignedField, Tx>(
  core: Core<Tx>,
  options: ResolvedOptions<Covers, Tx>,
): CheckoutParts<Tx> {
  const { store, now, newId, ready, maxGroup } = core;
  const { service, publicUrl, paths, reuseForMs, clientIdPrefix } = options;
  const { afterMs: firstLookupMs } = fillDefaults("lookup", options.lookup);
  const returnUrls = { success: publicUrl + paths.success, cancel: publicUrl + paths.cancel };
  // The token, the request and a second request after a 401 share `timeoutMs`. The store gets 5 s more.
  const creationMs = service.timeoutMs + 5000;
  return {
    store,
    now,
    newId,
    ready,
    maxGroup,
    service: createPaymentService(service),
    rematch: (clientIds) => rematch(core, clientIds),
    options: { returnUrls, reuseForMs, clientIdPrefix, creationMs, firstLookupMs },
  };
}

/** Returns the methods for customers who come back. After their action, the kit may ask the service. */
function customerReturns<Tx>({ store, now }: Core<Tx>, lookups: Lookups<Tx> | undefined) {
  const parts = {
    store,
    now,
    onSuccess: (clientId: string) => lookups?.askAfterReturn(clientId),
    onClaim: (clientId: string) => lookups?.askNow(clientId),
  };
  return {
    handleReturn: (request) => handleReturn(parts, request),
    claimPaid: (request) => claimPayment(parts, request),
  } satisfies Partial<Payments<never, Tx>>;
}

/** Returns the methods that read payments. */
function readers<Tx>(store: PaymentStore<Tx>) {
  return {
    find: (key) => findPayment(store, key),
    list: (query) => listPayments(store, query),
    figures: (query) => paymentFigures(store, query),
  } satisfies Partial<Payments<never, Tx>>;
}

/** Returns the methods that read and change the entries that need a person. */
function attentionMethods<Covers extends SignedField, Tx>(
  core: Core<Tx>,
  { unmatchedAfterMs }: ResolvedOptions<Covers, Tx>,
  health: () => Promise<Health>,
) {
  const parts = { ...core, unmatchedAfterMs, reasons: async () => (await health()).reasons };
  return {
    attention: async (query) => listAttention(parts, query),
    history: async (clientId, query) => {
      const history = await paymentHistory(core.store, clientId, query);
      return { ...history, attention: await openEntries(parts, history) };
    },
    attend: async (id, action) => attend(parts, id, action),
  } satisfies Partial<Payments<never, Tx>>;
}

/** Returns the methods with which people control handlers, and their dead dispatches. */
function handlerControls<Tx>(core: Core<Tx>, dispatcher: Dispatcher<Tx>) {
  const { store, now } = core;
  const parts = { store, now, onChanged: () => dispatcher.controlsChanged() };
  return {
    handlers: () => listHandlers(store),
    pauseHandler: async (name, options) => pauseHandler(parts, name, options),
    resumeHandler: async (name, options) => resumeHandler(parts, name, options),
    limitHandler: async (name, options) => limitHandler(parts, name, options),
    retireHandler: (name, choice) => retireHandler({ ...core, ...parts }, name, choice),
    replayDispatches: (query) => replayDispatches(core, query),
    revivedDispatches: async (run) => revivedDispatches(store, run),
  } satisfies Partial<Payments<never, Tx>>;
}

/** Returns the methods that add handlers of events and listeners of notices. */
function createSubscriptions<Covers extends SignedField, Tx>(
  { handlers, listen }: Core<Tx>,
  dispatcher: Dispatcher<Tx>,
): Pick<Payments<Covers, Tx>, "on" | "onAny" | "onPaymentCompleted"> {
  const subscribe = (event: EventType | "*", handler: unknown, options: HandlerOptions | undefined): void => {
    handlers.add(event, handler as AnyHandler<Tx>, options);
    dispatcher.wake();
  };
  const on = (type: EventType | NoticeType, handler: unknown, options?: HandlerOptions): void => {
    if (isEventType(type)) return subscribe(type, handler, options);
    requireNotice(type);
    if (options !== undefined)
      throw new TillkitError("option_invalid", `${type} is a notice, and its listeners take no options.`);
    listen(type, handler as () => void);
  };
  return {
    on,
    onAny: (handler, options) => subscribe("*", handler, options),
    onPaymentCompleted: (handler, options) => on("payment.completed", handler, options),
  };
}

/** Throws `option_invalid` if no notice has this name, because its listener would never be called. */
function requireNotice(type: NoticeType): void {
  if ((noticeTypes as readonly string[]).includes(type)) return;
  const meant = suggestion(type, [...eventTypes, ...noticeTypes]);
  throw new TillkitError("option_invalid", `No event or notice is named "${type}". ${meant}`);
}

function isEventType(type: EventType | NoticeType): type is EventType {
  return (eventTypes as readonly string[]).includes(type);
}
