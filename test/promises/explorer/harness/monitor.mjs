/** Returns what a webhook or a lookup answer says, equal for two that say the same. */
export function factsOf(rawBody) {
  let facts = known.get(rawBody);
  if (facts === undefined) known.set(rawBody, (facts = readFacts(rawBody)));
  return facts;
}

const known = new WeakMap();

function readFacts(rawBody) {
  const json = JSON.parse(rawBody.toString());
  const { id, clientId, status, total, submittedAt } = json.data?.id === undefined ? json : json.data;
  return JSON.stringify([id, clientId, status, total?.value, total?.currency, submittedAt]);
}

const isSame = (a, b) => a.value === b.value && a.currency === b.currency;
const placeOf = ({ createdAt, clientId }) => `${createdAt} ${clientId}`;
const fixed = ["clientId", "reference", "createdAt"];

/** Checks what must hold at every moment: at each commit, and at each answer that a process sends. */
export class Monitor {
  #world;
  #parts;

  constructor(world, parts) {
    this.#world = world;
    this.#parts = parts;
  }

  /** Called with each version of a payment that is committed. */
  onPayment(before, after) {
    const { clientId, state } = after;
    if (state === "completed") this.#checkPaid(clientId, after);
    if (!before) return this.#checkCreated(after);
    if (before.state === "completed" && state !== "completed")
      this.#world.violate("D", `${clientId} is ${state} after it was completed`);
    if (before.serviceId !== undefined && after.serviceId !== before.serviceId)
      this.#world.violate("D", `${clientId} has another service id`);
    for (const field of fixed)
      if (before[field] !== after[field]) this.#world.violate("D", `${field} of ${clientId} has changed`);
  }

  /**
   * Called with each event that is committed. An order is fulfilled only by the amount that the shop asked for last: that of the
   * newest attempt that the kit made, or else that of the payment that was adopted last. Attempts are stored in the order in which they
   * were made. `seen`: the payments that were committed when the transaction of the event locked its own. An attempt of the same moment
   * is not among them.
   */
  onEvent({ type, clientId }, seen) {
    if (type !== "payment.completed" && type !== "payment.paid_other_amount") return;
    const { payments } = this.#parts.database;
    const { reference, total } = payments.get(clientId);
    const attempts = this.#attemptsOf(reference).filter(
      (one) => one.clientId === clientId || seen.has(one.clientId),
    );
    const newest =
      attempts.findLast((one) => one.returnKeyHash !== undefined) ??
      attempts.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)).at(-1);
    const isOther = !isSame(newest.total, total);
    if (type === "payment.completed" && isOther)
      this.#world.violate(
        "G",
        `${reference} is fulfilled by ${clientId}, and another amount was asked for last`,
      );
    if (type === "payment.paid_other_amount" && !isOther)
      this.#world.violate("G", `${clientId} is withheld, and its amount was asked for last`);
  }

  /** Called with each version of a webhook that is committed. */
  onWebhook(before, { outcome, eventKey }) {
    const isFinal = before && !["unmatched", "unconfirmed", "foreign"].includes(before.outcome);
    if (isFinal && before.outcome !== outcome)
      this.#world.violate("C", `the webhook ${eventKey} was ${before.outcome} and is ${outcome}`);
  }

  /** Called when the holder of a lease renews or settles it. */
  onLeaseUse({ dueAt, handler }) {
    if (this.#world.isStrict && dueAt <= this.#world.mono)
      this.#world.violate("leases", `the lease of ${handler} ended during its run, without any fault`);
  }

  /** Called when a process claims a dispatch, with its state from before. */
  onClaim({ state, dueAt, handler }) {
    if (dueAt <= this.#world.mono) return;
    const what = state === "leased" ? "lease" : "wait";
    this.#world.violate("leases", `a dispatch of ${handler} was taken although its ${what} had not ended`);
  }

  /** Called when a process answers a webhook. */
  onAnswer({ status, rawBody, isForged }) {
    if (status !== 200) return;
    if (isForged) this.#world.violate("E", "a webhook that nobody signed was answered 200");
    const { database } = this.#parts;
    const facts = factsOf(rawBody);
    for (const row of database.webhooks.values()) if (factsOf(row.rawBody) === facts) return;
    if (this.#world.disk.holdsDurably(JSON.stringify(rawBody.toString("base64")))) return;
    this.#world.violate("A", `a webhook was answered 200 before it was on disk: ${facts}`);
  }

  /** Called when a customer gets a page. */
  onPage(payment, status, body) {
    const { faults, isStoreBlocked } = this.#world;
    const isExpected = status === 200 || (status === 503 && (faults.hasInterrupted || isStoreBlocked));
    if (!isExpected && (status !== 404 || this.#parts.database.payments.has(payment.clientId)))
      this.#world.violate("returns", `a return of ${payment.clientId} was answered ${status}`);
    if (status !== 200 || !/"state":"paid"/.test(body)) return;
    const stored = this.#parts.database.payments.get(payment.clientId);
    // The page of a canceled attempt says so where another attempt of its order was paid.
    const attempts = stored ? this.#attemptsOf(stored.reference) : [];
    const isOrderPaid = attempts.some(
      (one) => one.clientId !== payment.clientId && one.state === "completed",
    );
    if (!payment.reported.includes("completed") && !isOrderPaid)
      this.#world.violate("returns", `the page of ${payment.clientId} says paid before it was paid`);
  }

  /** A new attempt of the kit's own must not collect again what a person has to settle. */
  #checkCreated({ reference, returnKeyHash }) {
    if (returnKeyHash === undefined) return;
    const withheld = this.#attemptsOf(reference).find((one) => one.withheld === "unsettled");
    if (withheld)
      this.#world.violate("G", `${reference} is collected again, and ${withheld.clientId} is not settled`);
  }

  #attemptsOf(reference) {
    return [...this.#parts.database.payments.values()].filter((one) => one.reference === reference);
  }

  #checkPaid(clientId, { total }) {
    const truth = this.#parts.service.payments.get(clientId);
    if (!truth?.reported.includes("completed"))
      this.#world.violate("E", `${clientId} is completed, and the service knows no payment of it`);
    else if (truth.total.value !== total.value)
      this.#world.violate("E", `${clientId} is completed with another amount`);
  }
}
