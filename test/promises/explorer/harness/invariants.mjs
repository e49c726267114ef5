import { wants } from "./database.mjs";
import { factsOf } from "./monitor.mjs";
import { dispatch as settings } from "./shop.mjs";

/** The statuses of the interface in the order in which they replace each other; unknown ones are after `pending`. */
const order = [
  "init",
  "pending",
  "unknown",
  "submitted",
  "approved",
  "captured",
  "failed",
  "canceled",
  "completed",
];

/** Checks what must hold after everything has settled. */
export function checkSettled(world, { database, shop, service, traffic }) {
  const violate = (invariant, text) => world.violate(invariant, text);
  const parts = { world, violate, database, shop, service, traffic };
  checkWebhooks(parts);
  checkPayments(parts);
  checkEvents(parts);
  checkRefunds(parts);
  checkDispatches(parts);
  checkRegistrations(parts);
  checkWrites(parts);
}

/** A and C: what was answered 200 has exactly one outcome, and what nobody signed has none. */
function checkWebhooks({ world, violate, database, shop, traffic }) {
  const stored = new Map();
  for (const { rawBody } of database.webhooks.values()) {
    const facts = factsOf(rawBody);
    stored.set(facts, (stored.get(facts) ?? 0) + 1);
    if (traffic.forged.some((forged) => forged.equals(rawBody)))
      violate("E", `a webhook that nobody signed is stored: ${facts}`);
  }
  for (const [facts, count] of stored)
    if (count > 1) violate("C", `${count} outcomes of one event: ${facts}`);
  for (const { status, rawBody } of traffic.answered) {
    if (status !== 200 || stored.has(factsOf(rawBody))) continue;
    const line = JSON.stringify(rawBody.toString("base64"));
    if (world.disk.holds(line, `${shop.spoolFolder}/set-aside`)) continue;
    violate("C", `a webhook was answered 200 and is not stored: ${factsOf(rawBody)}`);
  }
}

/** Each payment is what the webhooks that were stored for it say, in any order. */
function checkPayments({ world, violate, database, service, shop }) {
  const rows = [...database.webhooks.values()];
  for (const payment of database.payments.values()) {
    const { clientId, state, status, serviceId } = payment;
    const truth = service.payments.get(clientId);
    if (state === "failed" && truth && !truth.reported.includes("failed"))
      violate("creation", `${clientId} is failed, and the service has the payment`);
    const about = rows.filter((row) => row.clientId === clientId);
    // The service cannot be asked about a payment that neither its list nor a webhook names. A mismatch proves no id.
    const isNamed = about.some(({ outcome }) => outcome !== "mismatch");
    const canAsk =
      shop.setup.hasLookup &&
      !world.isStarved &&
      (service.listsClientIds || serviceId !== undefined || isNamed);
    if (canAsk && truth?.reported.includes("completed") && state !== "completed")
      violate("lookup", `${clientId} is paid at the service, which was asked, and is ${state}`);
    // A foreign webhook is matched by the adoption. One whose adoption was interrupted, and that decides nothing any more,
    // may wait until the payment is adopted again.
    const waits = (row) =>
      row.outcome === "unmatched" || (row.outcome === "foreign" && byRank(row.status, status ?? "init") > 0);
    if (about.some(waits))
      violate("matching", `a webhook of ${clientId} waits, although its payment is stored`);
    const reports = about.filter(({ outcome }) => outcome === "applied" || outcome === "stale");
    const farthest = reports
      .map((row) => row.status)
      .toSorted(byRank)
      .at(-1);
    if (farthest !== undefined && byRank(farthest, status) > 0)
      violate("D", `${clientId} has the status ${status}, and ${farthest} was reported`);
  }
}

function byRank(a, b) {
  const rank = (status) => order.indexOf(order.includes(status) ? status : "unknown");
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** G: one completion of each payment is one event, and one fulfilment of each reference. */
function checkEvents({ violate, database }) {
  const events = [...database.events.values()];
  const fulfilled = new Map();
  for (const payment of database.payments.values()) {
    const { clientId, reference, state, withheld } = payment;
    const count = (type) => events.filter((one) => one.type === type && one.clientId === clientId).length;
    const types = ["payment.completed", "payment.paid_twice", "payment.paid_other_amount"];
    const [completed, twice, other] = types.map(count);
    fulfilled.set(reference, (fulfilled.get(reference) ?? 0) + completed);
    const expected = state === "completed" ? 1 : 0;
    if (completed + twice + other !== expected)
      violate(
        "G",
        `${clientId} is ${state} and has ${completed} completed, ${twice} paid_twice, ${other} withheld`,
      );
    if ((withheld !== undefined) !== other > 0)
      violate("G", `${clientId} is withheld: ${withheld}, and has ${other} paid_other_amount`);
  }
  for (const [reference, count] of fulfilled)
    if (count > 1) violate("G", `${reference} was fulfilled ${count} times`);
  for (const { state, reference, withheld } of database.payments.values())
    if (state === "completed" && withheld === undefined && fulfilled.get(reference) !== 1)
      violate("G", `${reference} is paid and was fulfilled ${fulfilled.get(reference)} times`);
}

/** Refunds never exceed what was paid, and each is one event. */
function checkRefunds({ violate, database }) {
  const resolutions = [...database.resolutions.values()];
  for (const { clientId, total, refunded } of database.payments.values()) {
    const refunds = resolutions.filter((one) => one.clientId === clientId).map(({ refund }) => refund);
    const sum = refunds.reduce((all, { amount }) => all + unitsOf(amount.value), 0n);
    if (sum > unitsOf(total.value))
      violate("refunds", `${sum} hundredths of ${total.value} of ${clientId} went back`);
    if (sum !== unitsOf(refunded ?? "0")) violate("refunds", `${clientId} has ${refunded}, and not ${sum}`);
    const isOf = (one) => one.type === "payment.refunded" && one.clientId === clientId;
    const told = [...database.events.values()].filter(isOf).map(({ payload }) => payload.refund);
    const written = (list) => list.map((one) => JSON.stringify(one)).toSorted();
    if (`${written(told)}` !== `${written(refunds)}`)
      violate("refunds", `${clientId} has ${refunds.length} refunds and ${told.length} events of them`);
  }
}

/** Returns a decimal string in hundredths. */
function unitsOf(value) {
  const [whole, decimals = ""] = value.split(".");
  return BigInt(whole + decimals.padEnd(2, "0"));
}

/** C: each dispatch ends as done, or as dead for a reason. */
function checkDispatches({ world, violate, database, shop }) {
  for (const [key, { state, failures, attempt, handler }] of database.dispatches) {
    const name = `${handler} of ${key.split(" ")[0]}`;
    if (state !== "done" && state !== "dead") violate("C", `the dispatch ${name} is ${state}`);
    const lost = attempt - 1 - failures;
    const isWorn = failures >= settings.maxFailures - 1 || lost >= settings.maxLostLeases;
    if (state === "dead" && !isWorn)
      violate("B", `the dispatch ${name} is dead after ${failures} failures and ${attempt} attempts`);
    const run = shop.runs.get(key);
    if (world.isStrict && run && run.started !== run.threw + (state === "done" ? 1 : 0))
      violate(
        "B",
        `the handler ${name} ran ${run.started} times and threw ${run.threw} times, without a fault`,
      );
  }
}

/** C: each event has a dispatch of each handler that was registered before, and of none that was new after it. */
function checkRegistrations({ violate, database }) {
  const { handlerTimes, registeringTimes, eventTimes, dispatches, forgotten } = database;
  for (const [id, registeredAt] of handlerTimes) {
    const [type, name] = id.split(" ");
    for (const [eventId, committedAt] of eventTimes) {
      const isWanted = wants({ event: type }, database.events.get(eventId).type);
      const hasDispatch = dispatches.has(`${eventId} ${name}`);
      if (committedAt > registeredAt && isWanted && !hasDispatch)
        violate("C", `the event ${eventId} has no dispatch for ${name}, which was registered before`);
      // One that was forgotten gets what its process has missed, by a clock that may have jumped.
      if (committedAt < registeringTimes.get(id) && hasDispatch && !forgotten.has(id))
        violate("C", `the event ${eventId} has a dispatch for ${name}, which was new after it`);
    }
  }
}

/** C: what waits too long was raised. An outage may have delayed an intent until now. */
export function checkRaised(world, { database }) {
  const isOld = (createdAt) => world.wall() - Date.parse(createdAt) > 24 * 60 * 60_000;
  for (const { clientId, state, overdueAt, createdAt } of database.payments.values())
    if (["creating", "pending", "uncertain"].includes(state) && overdueAt === undefined && isOld(createdAt))
      world.violate("raised", `${clientId} is ${state} since more than a day, and not overdue`);
  for (const { clientId, outcome, isRaised } of database.webhooks.values())
    if (["unmatched", "unconfirmed"].includes(outcome) && !isRaised)
      world.violate("raised", `a webhook of ${clientId} is ${outcome} since hours, and was not raised`);
}

/** B and F: what handlers write commits once with the mark "done", and not otherwise. */
function checkWrites({ violate, database }) {
  const written = new Map();
  for (const { eventId, handler } of database.rows) {
    const key = `${eventId} ${handler}`;
    written.set(key, (written.get(key) ?? 0) + 1);
  }
  for (const [key, { state, handler }] of database.dispatches) {
    const count = written.get(key) ?? 0;
    const isDone = state === "done";
    if (count !== (isDone ? 1 : 0))
      violate("B", `${handler} is ${state} and its writes committed ${count} times`);
  }
}
