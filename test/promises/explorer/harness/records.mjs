import { epoch } from "./world.mjs";

/** The key of the record with the names of all handlers. */
const handlersKey = "handlers";

/**
 * The records of a store over an adapter. What the kit commits in them is shown to the monitor, and in the lists of the database, as the
 * tables of the simulated store are.
 */
export class Records {
  #records = new Map();
  #database;
  #monitor;

  constructor(database, monitor) {
    this.#database = database;
    this.#monitor = monitor;
  }

  read(keys) {
    return keys.flatMap((key) => this.#records.get(key) ?? []);
  }

  scan({ from, to, limit, reverse }) {
    const found = [...this.#records.values()].filter(({ key }) => key >= from && key < to);
    return found.toSorted((a, b) => (a.key < b.key === reverse ? 1 : -1)).slice(0, limit);
  }

  isExpected(changes) {
    return changes.every(({ key, version }) => (this.#records.get(key)?.version ?? 0) === version);
  }

  commit(changes) {
    const { payments } = this.#database;
    const before = new Set(payments.keys());
    for (const { key, version, value } of changes)
      if (value === null) this.#records.delete(key);
      else this.#records.set(key, { key, value, version: version + 1 });
    const written = (table) =>
      changes.flatMap(({ key, value }) =>
        value !== null && key.split("/", 1)[0] === table ? [JSON.parse(value)] : [],
      );
    for (const payment of written("orders").flat()) this.#showPayment(payment);
    for (const row of written("webhooks")) this.#showWebhook(row);
    for (const event of written("events")) this.#showEvent(event, before);
    for (const dispatch of written("dispatches")) this.#showDispatch(dispatch);
    for (const one of written("resolutions")) this.#database.resolutions.set(one.id, one);
    for (const one of written("notes")) this.#database.notes.set(`${one.kind} ${one.id}`, one);
    for (const keys of written(handlersKey)) this.#database.setHandlers(keys);
    for (const identity of written("identity")) this.#database.identity = identity;
  }

  /** Removes the name of a handler, as an older copy of the database would not have it. */
  forget(isForgotten) {
    const record = this.#records.get(handlersKey);
    if (!record) return;
    const { version, value } = record;
    const kept = JSON.parse(value).filter((key) => !isForgotten(key));
    this.commit([{ key: handlersKey, version, value: JSON.stringify(kept) }]);
  }

  copy() {
    return new Map(this.#records);
  }

  restore(copy) {
    this.#records = new Map(copy);
  }

  #showPayment(payment) {
    const { payments } = this.#database;
    const known = payments.get(payment.clientId);
    if (known && JSON.stringify(known) === JSON.stringify(payment)) return;
    this.#monitor.onPayment(known, payment);
    payments.set(payment.clientId, payment);
  }

  #showWebhook({ rawBody, isStray, ...row }) {
    const { webhooks } = this.#database;
    this.#monitor.onWebhook(webhooks.get(row.eventKey), row);
    webhooks.set(row.eventKey, { ...row, rawBody: Buffer.from(rawBody, "base64"), isRaised: !isStray });
  }

  #showEvent({ order: _, handlers: __, ...event }, before) {
    const isNew = !this.#database.events.has(event.id);
    this.#database.addEvent(event);
    if (isNew) this.#monitor.onEvent(event, before);
  }

  #showDispatch({ eventId, dueAt, ...dispatch }) {
    const { dispatches, events } = this.#database;
    const key = `${eventId} ${dispatch.handler}`;
    const known = dispatches.get(key);
    const after = { ...dispatch, event: events.get(eventId), dueAt: dueAt && dueAt - epoch };
    if (known && after.state === "leased")
      if (after.fence > known.fence) this.#monitor.onClaim(known);
      else this.#monitor.onLeaseUse(known);
    dispatches.set(key, after);
  }
}
