/** Compares the kit's books and events with the truth. */
export async function judge(world) {
  const events = await readEvents(world.store);
  const books = await compareBooks(world);
  world.recordedForeign = await readForeign(world.store);
  const anomalies = compareAnomalies(world, events);
  const completions = compare(expectedCompletions(world), referencesOf(events, "payment.completed"));
  const problems = await otherProblems(world, events);
  const differing = [completions, ...Object.values(anomalies)].filter((one) => one.missing + one.false > 0);
  const ok = books.unequal === 0 && differing.length === 0 && problems.length === 0;
  return { ok, books, completions, anomalies, problems };
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

/** Each payment of the store beside the service's, and the other way round. */
async function compareBooks({ payments, truth, strangers, foreign }) {
  const notOurs = new Set([...strangers, ...foreign].map(({ clientId }) => clientId));
  const left = new Map();
  for (const payment of truth.payments.values())
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

/** The anomalies that the plan holds, beside those that were told. */
function compareAnomalies(world, events) {
  const { orders, strangers, foreign, arriving } = world;
  const arrived = new Set(arriving.map(({ clientId }) => clientId));
  const ofKind = (...kinds) => orders.filter(({ kind }) => kinds.includes(kind));
  const first = ({ n }) => `sim-${n}-1`;
  const told = (type) => clientIdsOf(events, type);
  return {
    "payment.mismatched": compare(ofKind("changed amount").map(first), told("payment.mismatched")),
    "payment.paid_twice": compare(
      ofKind("paid twice").map(({ reference }) => reference),
      referencesOf(events, "payment.paid_twice"),
    ),
    // Those that nothing arrived of are nobody's to know.
    "payment.unmatched": compare(
      strangers.map(({ clientId }) => clientId).filter((clientId) => arrived.has(clientId)),
      told("payment.unmatched"),
    ),
    "payment.overdue": compare(ofKind("abandoned").map(first), told("payment.overdue")),
    // Late is what the shop had seen fail or cancel before; what it never saw fail is not late to it.
    "payment.paid_late": compare(
      [...ofKind("paid twice").map(first), ...lateToTheShop(ofKind("late success").map(first), events)],
      told("payment.paid_late"),
    ),
    "foreign (recorded, never raised)": compare(
      foreign.map(({ clientId }) => clientId).filter((clientId) => arrived.has(clientId)),
      world.recordedForeign,
    ),
  };
}

function lateToTheShop(clientIds, events) {
  const failed = new Set(
    events.flatMap(({ type, clientId, payment }) =>
      type === "payment.updated" && payment.state === "failed" ? [clientId] : [],
    ),
  );
  return clientIds.filter((clientId) => failed.has(clientId));
}

/** One completion for each order that was paid, however often, and for each payment that was taken over. */
function expectedCompletions({ orders, legacy }) {
  const paid = ["paid", "paid twice", "changed amount", "late success"];
  return [
    ...orders.filter(({ kind }) => paid.includes(kind)).map(({ reference }) => reference),
    ...legacy.map(({ clientId }) => `order-of-${clientId}`),
  ];
}

/** What else must not be. */
async function otherProblems({ payments, forged, received, foreign }, events) {
  const problems = [];
  const surprising = [
    "payment.reported",
    "payment.unconfirmed",
    "webhook.inadmissible",
    "webhook.unrecognised",
  ];
  for (const type of surprising) {
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

/** With repetitions: an order that is completed twice is one too many. */
function referencesOf(events, type) {
  return events.filter((event) => event.type === type).map(({ payment }) => payment.reference);
}

function compare(planned, told) {
  const wanted = new Set(planned);
  const found = new Set(told);
  const missing = [...wanted].filter((id) => !found.has(id));
  const extra = [...found].filter((id) => !wanted.has(id));
  const repeated = told.length - found.size;
  const examples = [...missing, ...extra].slice(0, 5);
  return {
    planned: wanted.size,
    told: told.length,
    missing: missing.length,
    false: extra.length + repeated,
    ...(examples.length > 0 && { examples }),
  };
}
