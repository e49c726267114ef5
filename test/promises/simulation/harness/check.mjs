import { checkAttention } from "./attention.mjs";
import { isAccepted } from "./plan.mjs";

/** Compares the kit's stored payments and events with the service model. */
export async function check(world) {
  const events = await readEvents(world.store);
  const stored = await compareStored(world);
  world.recordedForeign = await readForeign(world.store);
  const anomalies = compareAnomalies(world, events);
  const completions = compare(expectedCompletions(world), referencesOf(events, "payment.completed"));
  const problems = await otherProblems(world, events);
  Object.assign(anomalies, await checkAttention(world, { events, plan: plannedEntries(world, events) }));
  const differing = [completions, ...Object.values(anomalies)].filter((one) => one.missing + one.false > 0);
  const ok = stored.unequal === 0 && differing.length === 0 && problems.length === 0;
  return { ok, stored, completions, anomalies, problems };
}

async function readEvents(store) {
  const { rows } = await store.transaction((tx) =>
    tx.query("select type, client_id, payload from tillkit_events order by seq"),
  );
  return rows.map(({ type, client_id: clientId, payload }) => ({ type, clientId, ...JSON.parse(payload) }));
}

async function readForeign(store) {
  const { rows } = await store.transaction((tx) =>
    tx.query("select client_id from tillkit_webhooks where outcome = 'foreign'"),
  );
  return rows.map(({ client_id: clientId }) => clientId);
}

/** Compares each stored payment with the service's payment, and finds payments that are not stored. */
async function compareStored({ payments, service, strangers, foreign }) {
  const notOurs = new Set([...strangers, ...foreign].map(({ clientId }) => clientId));
  const left = new Map();
  for (const payment of service.payments.values())
    if (!notOurs.has(payment.clientId)) left.set(payment.clientId, payment);
  const result = { payments: left.size, equal: 0, unequal: 0, examples: [] };
  let cursor;
  do {
    const page = await payments.list({ limit: 500, cursor });
    for (const { clientId, state, serviceId } of page.payments) {
      const known = left.get(clientId);
      left.delete(clientId);
      const expected = known && stateOf(known.status);
      if (known && state === expected && serviceId === known.id) result.equal += 1;
      else note(result, `${clientId} is ${state}, and ${expected ?? "nothing"} at the service`);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  for (const clientId of left.keys()) note(result, `${clientId} is not in the store`);
  return result;
}

function note(result, text) {
  result.unequal += 1;
  if (result.examples.length < 5) result.examples.push(text);
}

function stateOf(status) {
  return ["completed", "failed", "canceled"].includes(status) ? status : "pending";
}

/** Compares the planned anomalies with the raised ones. */
function compareAnomalies(world, events) {
  const { orders, strangers, foreign, arriving } = world;
  const arrived = new Set(arriving.map(({ clientId }) => clientId));
  const ofKind = (...kinds) => orders.filter(({ kind }) => kinds.includes(kind));
  const first = ({ n }) => `sim-${n}-1`;
  const raised = (type) => clientIdsOf(events, type);
  return {
    "payment.mismatched": compare(ofKind("changed amount").map(first), raised("payment.mismatched")),
    "entry: mismatched, before a person came": compare(ofKind("changed amount").map(first), world.mismatched),
    "payment.paid_twice": compare(
      ofKind("paid twice").map(({ reference }) => reference),
      referencesOf(events, "payment.paid_twice"),
    ),
    "payment.paid_other_amount": compare(
      ofKind("earlier amount").map(first),
      raised("payment.paid_other_amount"),
    ),
    // The kit cannot know payments of which no webhook arrived.
    "payment.unmatched": compare(
      strangers.map(({ clientId }) => clientId).filter((clientId) => arrived.has(clientId)),
      raised("payment.unmatched"),
    ),
    "payment.overdue": compare(
      [...ofKind("abandoned").map(first), ...ofKind("earlier amount").map(({ n }) => `sim-${n}-2`)],
      raised("payment.overdue"),
    ),
    // A payment is late only where the kit had recorded it as failed or canceled before.
    "payment.paid_late": compare(
      [...ofKind("paid twice").map(first), ...knownAsFailed(ofKind("late success").map(first), events)],
      raised("payment.paid_late"),
    ),
    "foreign (recorded, never raised)": compare(
      foreign.map(({ clientId }) => clientId).filter((clientId) => arrived.has(clientId)),
      world.recordedForeign,
    ),
  };
}

/** Returns the subjects that need a person at the end, by rule. A payment needs one for its gravest reason only. */
function plannedEntries(world, events) {
  const { orders, claimed, service } = world;
  const ofKind = (...kinds) => orders.filter(({ kind }) => kinds.includes(kind));
  const first = ({ n }) => `sim-${n}-1`;
  const twice = clientIdsOf(events, "payment.paid_twice");
  const late = [
    ...ofKind("paid twice").map(first),
    ...knownAsFailed(ofKind("late success").map(first), events),
  ];
  const statuses = new Map([...service.payments.values()].map(({ clientId, status }) => [clientId, status]));
  // The acceptance of an earlier amount settles the order's other attempt.
  const refunded = ofKind("earlier amount").filter((order) => !isAccepted(order));
  const overdue = [...ofKind("abandoned").map(first), ...refunded.map(({ n }) => `sim-${n}-2`)];
  return {
    claimed: claimed.filter((clientId) => statuses.get(clientId) !== "completed"),
    paid_twice: twice,
    paid_late: late.filter((clientId) => !twice.includes(clientId)),
    unmatched: clientIdsOf(events, "payment.unmatched"),
    mismatched: [],
    overdue,
  };
}

function knownAsFailed(clientIds, events) {
  const failed = new Set(
    events.flatMap(({ type, clientId, payment }) =>
      type === "payment.updated" && payment.state === "failed" ? [clientId] : [],
    ),
  );
  return clientIds.filter((clientId) => failed.has(clientId));
}

/** Returns one expected completion for each paid order, even if it was paid twice, and for each adopted payment. */
function expectedCompletions({ orders, legacy }) {
  const paid = ["paid", "paid twice", "changed amount", "late success"];
  return [
    ...orders
      .filter((order) => paid.includes(order.kind) || (order.kind === "earlier amount" && isAccepted(order)))
      .map(({ reference }) => reference),
    ...legacy.map(({ clientId }) => `order-of-${clientId}`),
  ];
}

/** Returns further contradictions between the plan and the store. */
async function otherProblems({ payments, forged, received, foreign }, events) {
  const problems = [];
  const unexpected = [
    "payment.reported",
    "payment.unconfirmed",
    "webhook.inadmissible",
    "webhook.unrecognised",
  ];
  for (const type of unexpected) {
    const count = events.filter((event) => event.type === type).length;
    if (count > 0) problems.push(`${count} events of ${type}`);
  }
  if (received.refused !== forged.length)
    problems.push(`${received.refused} of ${forged.length} forged webhooks were refused`);
  const notOurs = new Set(foreign.map(({ clientId }) => clientId));
  const raised = events.filter(({ clientId }) => notOurs.has(clientId)).length;
  if (raised > 0) problems.push(`${raised} events about another shop's payments`);
  const { counts } = await payments.health();
  const strangers = new Set(clientIdsOf(events, "payment.unmatched")).size;
  if (counts.parked !== strangers)
    problems.push(`${counts.parked} webhooks are parked, and ${strangers} were raised`);
  return problems;
}

function clientIdsOf(events, type) {
  return [...new Set(events.filter((event) => event.type === type).map(({ clientId }) => clientId))];
}

/** Returns the references with repetitions, because an order must not be completed twice. */
function referencesOf(events, type) {
  return events.filter((event) => event.type === type).map(({ payment }) => payment.reference);
}

/** Compares what was planned with what was raised. What was raised twice is false. */
export function compare(planned, raised) {
  const wanted = new Set(planned);
  const found = new Set(raised);
  const missing = [...wanted].filter((id) => !found.has(id));
  const extra = [...found].filter((id) => !wanted.has(id));
  const repeated = raised.length - found.size;
  const examples = [...missing, ...extra].slice(0, 5);
  return {
    planned: wanted.size,
    raised: raised.length,
    missing: missing.length,
    false: extra.length + repeated,
    ...(examples.length > 0 && { examples }),
  };
}
