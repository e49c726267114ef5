import { blocked } from "./world.mjs";
import { Records } from "./records.mjs";
import { Transactions } from "./transactions.mjs";

const waiting = ["unmatched", "unconfirmed"];
const parkable = [...waiting, "foreign"];
const openStates = ["creating", "pending", "uncertain"];
const sorted = (keys) => keys.toSorted((a, b) => (a < b ? -1 : 1));

/** Copies a payment. Nothing in it is deeper, because the explorer gives no metadata. */
const copyOf = (payment) => ({ ...payment, total: { ...payment.total } });
const idOf = ({ event, name }) => `${event} ${name}`;
export const wants = (key, type) => key.event === "*" || key.event === type;

/** Part of the webhooks that the database always refuses. */
const refusedPart = "a part that the database refuses";
const isRefused = (rawBody) => rawBody.includes(refusedPart);

/** The database that all processes share: what is committed, and what each statement does. No statement waits in the middle. */
export class Database {
  payments = new Map();
  /** By eventKey. */
  webhooks = new Map();
  events = new Map();
  /** What people decided, by id. */
  resolutions = new Map();
  /** By kind and id; only those of a store over an adapter. Those that were deleted stay. */
  notes = new Map();
  handlers = new Map();
  /** By event and handler. */
  dispatches = new Map();
  /** What the merchant's handlers wrote. */
  rows = [];
  /** When each event was committed, and each handler registered for the first time: milliseconds of the monotonic clock. */
  eventTimes = new Map();
  handlerTimes = new Map();
  /** When the first registration of each handler began. */
  registeringTimes = new Map();
  /** The handlers that it has forgotten once. */
  forgotten = new Set();
  /** How long a registration of handlers that are known takes. */
  registrationMs = 0;
  /** Whether reads of the sweep fail. */
  refusesSweeps = false;
  #world;
  #monitor;

  constructor(world, monitor) {
    this.#world = world;
    this.#monitor = monitor;
    this.transactions = new Transactions(world);
    this.records = new Records(this, monitor);
  }

  get refusedPart() {
    return refusedPart;
  }

  /** Throws for a webhook that no database takes. */
  expectTaken(rawBody) {
    if (isRefused(rawBody)) throw new Error("the database refuses this value");
  }

  expectSweep() {
    if (this.refusesSweeps) throw new Error("the index is damaged");
  }

  find(clientId) {
    const payment = this.payments.get(clientId);
    return payment && copyOf(payment);
  }

  lock(tx, { clientIds = [], references = [], serviceIds = [], eventKeys = [] }) {
    for (;;) {
      const named = this.#named(tx, { clientIds, references, serviceIds });
      const keys = named.map(({ clientId }) => `payment ${clientId}`);
      const isComplete = keys.every((key) => tx.locks.has(key));
      if (!isComplete && this.transactions.lock(tx, keys) === blocked) return blocked;
      if (!isComplete) continue;
      // No lock keeps a payment out that another transaction stores later.
      tx.seen = new Set(this.payments.keys());
      return { payments: named.map(copyOf), eventKeys: eventKeys.filter((key) => this.#webhook(tx, key)) };
    }
  }

  save(tx, changes) {
    const { created = [], updated = [], webhooks = [], copies = [], rematched = [], events = [] } = changes;
    const { resolutions = [] } = changes;
    const { raised = [], dismissed = [] } = changes;
    const rowOf = (receiptId) => this.#ofReceipt(tx, receiptId)?.eventKey;
    const touched = [...rematched.map((one) => one.receiptId), ...raised, ...dismissed].flatMap(
      (receiptId) => rowOf(receiptId) ?? [],
    );
    const keys = [
      ...created.flatMap(({ clientId, reference }) => [`payment ${clientId}`, `open ${reference}`]),
      ...[...created, ...updated].flatMap(({ serviceId }) => (serviceId ? `service ${serviceId}` : [])),
      ...webhooks.flatMap(({ eventKey, receiptId }) => [`webhook ${eventKey}`, `receipt ${receiptId}`]),
      ...resolutions.map(({ id }) => `resolution ${id}`),
      ...[...copies.map(({ eventKey }) => eventKey), ...touched].map((eventKey) => `webhook ${eventKey}`),
    ];
    for (const { clientId } of updated)
      if (!tx.locks.has(`payment ${clientId}`))
        this.#world.violate("contract", `the payment ${clientId} was updated and not locked`);
    if (this.transactions.lock(tx, sorted(keys)) === blocked) return blocked;
    for (const { rawBody } of webhooks) this.expectTaken(rawBody);
    for (const payment of updated) this.#write(tx, payment);
    const takenClientIds = created.flatMap((payment) => this.#insertPayment(tx, payment));
    const takenEventKeys = webhooks.flatMap((webhook) => this.#insertWebhook(tx, webhook));
    for (const { eventKey, count } of copies) {
      const row = this.#webhook(tx, eventKey);
      if (row) tx.webhooks.set(eventKey, { ...row, copies: row.copies + count });
    }
    const change = (receiptId, changed) => {
      const row = this.#ofReceipt(tx, receiptId);
      if (row) tx.webhooks.set(row.eventKey, { ...row, ...changed });
    };
    for (const { receiptId, ...decided } of rematched) change(receiptId, { ...decided, isRaised: false });
    for (const receiptId of [...raised, ...dismissed]) change(receiptId, { isRaised: true });
    for (const resolution of resolutions) {
      if (this.resolutions.has(resolution.id)) throw conflict(`the resolution ${resolution.id}`);
      tx.resolutions.set(resolution.id, resolution);
    }
    for (const event of events) {
      if (this.events.has(event.id) || tx.events.has(event.id)) throw conflict(`the event ${event.id}`);
      tx.events.set(event.id, JSON.stringify(event));
    }
    return { takenClientIds, takenEventKeys };
  }

  settle(tx, settlement) {
    const { eventId, handler, fence } = settlement;
    const key = `${eventId} ${handler}`;
    if (this.transactions.lock(tx, [`dispatch ${key}`]) === blocked) return blocked;
    const dispatch = this.dispatches.get(key);
    if (!dispatch || dispatch.state !== "leased" || dispatch.fence !== fence) return false;
    this.#monitor.onLeaseUse(dispatch);
    tx.settlements.set(key, settlement);
    return true;
  }

  commit(tx) {
    for (const [clientId, payment] of tx.payments) {
      this.#monitor.onPayment(this.payments.get(clientId), payment);
      this.payments.set(clientId, payment);
    }
    for (const [eventKey, row] of tx.webhooks) {
      this.#monitor.onWebhook(this.webhooks.get(eventKey), row);
      this.webhooks.set(eventKey, row);
    }
    for (const [id, resolution] of tx.resolutions) this.resolutions.set(id, resolution);
    for (const text of tx.events.values()) {
      const event = JSON.parse(text);
      this.#monitor.onEvent(event, tx.seen);
      this.#expand(event);
    }
    for (const [key, settlement] of tx.settlements)
      this.#applySettlement(this.dispatches.get(key), settlement);
    if (tx.changes.length > 0) this.records.commit(tx.changes);
    this.rows.push(...tx.rows);
    this.transactions.end(tx);
  }

  claim({ handlers, limit, leaseMs, maxWaitMs = Infinity }) {
    const claims = [];
    const { mono } = this.#world;
    for (const [key, dispatch] of this.dispatches) {
      const { event, handler, state } = dispatch;
      if (claims.length >= limit) break;
      if (state === "done" || state === "dead") continue;
      // A store that lets the claimer's options decide would take what is due later than `maxWaitMs`.
      if (dispatch.dueAt > mono && dispatch.dueAt <= mono + maxWaitMs) continue;
      if (!handlers.some((one) => one.name === handler && wants(one, event.type))) continue;
      if (this.transactions.isLockedByOther(`dispatch ${key}`)) continue;
      this.#monitor.onClaim(dispatch);
      dispatch.state = "leased";
      dispatch.dueAt = mono + leaseMs;
      dispatch.fence += 1;
      dispatch.attempt += 1;
      const { fence, attempt, failures } = dispatch;
      claims.push({ event: { ...event }, handler, fence, attempt, failures });
    }
    return claims;
  }

  renew({ eventId, handler, fence }, leaseMs) {
    const key = `${eventId} ${handler}`;
    if (this.transactions.isLockedByOther(`dispatch ${key}`)) return blocked;
    const dispatch = this.dispatches.get(key);
    if (dispatch?.state !== "leased" || dispatch.fence !== fence) return false;
    this.#monitor.onLeaseUse(dispatch);
    dispatch.dueAt = this.#world.mono + leaseMs;
    return true;
  }

  rematchable(tx, clientIds) {
    return this.#webhooksOf(tx)
      .filter(({ outcome, clientId }) => parkable.includes(outcome) && clientIds.includes(clientId))
      .map(recordOf);
  }

  stray(tx, { before, limit }) {
    this.expectSweep();
    const found = this.#webhooksOf(tx)
      .filter(({ outcome, isRaised }) => waiting.includes(outcome) && !isRaised)
      .filter(({ receivedAt }) => receivedAt < before)
      .filter(({ eventKey }) => !this.transactions.isLockedByOther(`webhook ${eventKey}`, tx))
      .toSorted(byArrival)
      .slice(0, limit);
    this.transactions.lock(
      tx,
      found.map(({ eventKey }) => `webhook ${eventKey}`),
    );
    return found.map(recordOf);
  }

  due({ before, after, limit }) {
    this.expectSweep();
    const position = ({ createdAt, clientId }) => `${createdAt} ${clientId}`;
    return [...this.payments.values()]
      .filter(({ state, overdueAt }) => openStates.includes(state) && overdueAt === undefined)
      .filter((payment) => payment.createdAt < before && (!after || position(payment) > position(after)))
      .toSorted((a, b) => (position(a) < position(b) ? -1 : 1))
      .slice(0, limit)
      .map(copyOf);
  }

  /** Returns the newest payments. Nothing here lists others. */
  newest({ limit }) {
    const all = [...this.payments.values()].toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    return all.slice(0, limit).map(copyOf);
  }

  lookupDue({ before, limit }) {
    return [...this.payments.values()]
      .filter(({ nextLookupAt }) => nextLookupAt !== undefined && nextLookupAt < before)
      .toSorted((a, b) => (a.nextLookupAt < b.nextLookupAt ? -1 : 1))
      .slice(0, limit)
      .map(copyOf);
  }

  findMany({ clientIds = [], serviceIds = [] }) {
    return this.#named({ payments: new Map() }, { clientIds, serviceIds, references: [] }).map(copyOf);
  }

  webhooksPage({ clientId, receiptId, outcome, limit }) {
    return [...this.webhooks.values()]
      .filter((row) => clientId === undefined || row.clientId === clientId)
      .filter((row) => receiptId === undefined || row.receiptId === receiptId)
      .filter((row) => outcome === undefined || row.outcome === outcome)
      .toSorted(byArrival)
      .slice(0, limit)
      .map(recordOf);
  }

  history(clientId) {
    const of = (rows) => [...rows.values()].filter((row) => row.clientId === clientId);
    return {
      webhooks: of(this.webhooks).map(recordOf),
      events: of(this.events),
      dispatches: [],
      resolutions: of(this.resolutions),
    };
  }

  counts() {
    const dead = [...this.dispatches.values()].filter(({ state }) => state === "dead").length;
    const parked = [...this.webhooks.values()].filter(({ outcome }) => waiting.includes(outcome)).length;
    return { dead, parked };
  }

  register(handlers) {
    const unknown = handlers.filter((key) => !this.handlers.has(idOf(key)));
    this.setHandlers([...this.handlers.values(), ...unknown.map(({ event, name }) => ({ event, name }))]);
    for (const { since, ...key } of unknown)
      for (const event of this.events.values())
        if (since !== undefined && event.recordedAt >= since && wants(key, event.type))
          this.#addDispatch(event, key.name);
  }

  setHandlers(keys) {
    this.handlers = new Map(keys.map((key) => [idOf(key), key]));
    for (const id of this.handlers.keys())
      if (!this.handlerTimes.has(id)) this.handlerTimes.set(id, this.#world.mono);
  }

  /** Forgets a handler, as an older copy of the database does not know it. */
  forget(id) {
    this.forgotten.add(id);
    this.handlers.delete(id);
    this.records.forget((key) => idOf(key) === id);
  }

  noteRegistering(keys) {
    for (const id of keys.map(idOf))
      if (!this.registeringTimes.has(id)) this.registeringTimes.set(id, this.#world.mono);
  }

  addEvent(event) {
    this.events.set(event.id, event);
    if (!this.eventTimes.has(event.id)) this.eventTimes.set(event.id, this.#world.mono);
  }

  /** Returns a copy of everything that is committed. */
  copy() {
    const { payments, webhooks, events, resolutions, handlers, dispatches, rows, identity } = this;
    const maps = { payments, webhooks, events, resolutions, handlers };
    for (const name of Object.keys(maps)) maps[name] = new Map(maps[name]);
    const states = new Map([...dispatches].map(([key, dispatch]) => [key, { ...dispatch }]));
    return { ...maps, dispatches: states, rows: [...rows], identity, records: this.records.copy() };
  }

  restore({ records, ...copy }) {
    Object.assign(this, copy);
    this.records.restore(records);
  }

  #named(tx, { clientIds, references, serviceIds }) {
    const all = [...new Map([...this.payments, ...tx.payments]).values()];
    const named = all.filter(
      ({ clientId, reference, serviceId }) =>
        clientIds.includes(clientId) || references.includes(reference) || serviceIds.includes(serviceId),
    );
    const wanted = new Set(named.map(({ reference }) => reference));
    return all
      .filter(({ reference }) => wanted.has(reference))
      .toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  }

  #write(tx, payment) {
    const others = [...new Map([...this.payments, ...tx.payments]).values()].filter(
      ({ clientId }) => clientId !== payment.clientId,
    );
    if (payment.open && others.some(({ open, reference }) => open && reference === payment.reference))
      throw conflict(`a second open attempt of ${payment.reference}`);
    if (payment.serviceId && others.some(({ serviceId }) => serviceId === payment.serviceId))
      throw conflict(`the service id ${payment.serviceId}`);
    tx.payments.set(payment.clientId, copyOf(payment));
  }

  #insertPayment(tx, payment) {
    const { clientId, reference } = payment;
    const all = [...new Map([...this.payments, ...tx.payments]).values()];
    const isTaken = all.some((one) => one.clientId === clientId || (one.open && one.reference === reference));
    if (!isTaken) this.#write(tx, payment);
    return isTaken ? [clientId] : [];
  }

  #insertWebhook(tx, webhook) {
    const { eventKey, receiptId } = webhook;
    if (this.#webhook(tx, eventKey) || this.#ofReceipt(tx, receiptId)) return [eventKey];
    tx.webhooks.set(eventKey, { ...webhook, copies: 0, isRaised: false });
    return [];
  }

  #webhook(tx, eventKey) {
    return tx.webhooks.get(eventKey) ?? this.webhooks.get(eventKey);
  }

  #ofReceipt(tx, receiptId) {
    return this.#webhooksOf(tx).find((row) => row.receiptId === receiptId);
  }

  #webhooksOf(tx) {
    if (tx.webhooks.size === 0) return [...this.webhooks.values()];
    return [...new Map([...this.webhooks, ...tx.webhooks]).values()];
  }

  #expand(event) {
    this.addEvent(event);
    for (const key of this.handlers.values()) if (wants(key, event.type)) this.#addDispatch(event, key.name);
  }

  #addDispatch(event, handler) {
    const key = `${event.id} ${handler}`;
    const fresh = { event, handler, state: "pending", dueAt: 0, fence: 0, attempt: 0, failures: 0 };
    if (!this.dispatches.has(key)) this.dispatches.set(key, fresh);
  }

  #applySettlement(dispatch, { state, retryInMs = 0, error }) {
    dispatch.error = error;
    if (state === "done" || state === "dead") dispatch.state = state;
    else {
      dispatch.state = "pending";
      dispatch.dueAt = retryInMs ? this.#world.mono + retryInMs : 0;
      if (state === "failed") dispatch.failures += 1;
      else dispatch.attempt -= 1;
    }
  }
}

function conflict(what) {
  return Object.assign(new Error(`unique constraint: ${what}`), { code: "store_conflict" });
}

function byArrival(a, b) {
  return `${a.receivedAt} ${a.receiptId}` < `${b.receivedAt} ${b.receiptId}` ? -1 : 1;
}

function recordOf({ copies: _, isRaised: __, rawBody, ...row }) {
  return { ...row, rawBody: Buffer.from(rawBody) };
}
