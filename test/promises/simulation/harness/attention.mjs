import { compare } from "./check.mjs";

const by = "the simulation";
const minuteMs = 60_000;
/** The rules whose facts are in the store, the most urgent first. */
const stored =
  `claimed paid_other_amount paid_twice mismatched paid_late unmatched unconfirmed reported inadmissible
  dead_dispatch handler_paused creation_uncertain overdue`.split(/\s+/);

/** Lets the customers of every 20th order say that they have paid, before any webhook comes. Returns the clientIds. */
export async function claimSome({ payments, service, advance }, orders) {
  const claimed = [];
  const some = orders.filter(({ n }) => n % 20 === 0).map(({ n }) => `sim-${n}-1`);
  const returned = (clientId) => ({ kind: "success", token: service.returnTokens.get(clientId) });
  for (const clientId of some) await payments.handleReturn({ ...returned(clientId), visit: true });
  advance(2 * minuteMs);
  for (const clientId of some) {
    const outcome = await payments.claimPaid({ ...returned(clientId), number: `SMS-${clientId}` });
    if (outcome === "kept") claimed.push(clientId);
  }
  // One sweep announces 500 of them.
  for (let left = claimed.length; left >= 0; left -= 500) await payments.sweep();
  return claimed;
}

/**
 * Compares what needs a person with the plan. Then a person settles all of it, nothing may be left, and each entry must have been announced
 * once and closed once. Returns comparisons by rule.
 */
export async function checkAttention(world, { events, plan }) {
  const { payments } = world;
  await announceAll(world);
  const open = await listAll(payments, stored);
  const subjects = (rule) => open.filter((entry) => entry.rule === rule).map(({ subject }) => subject);
  const rules = new Set([...Object.keys(plan), ...open.map(({ rule }) => rule)]);
  const compared = Object.fromEntries(
    [...rules].map((rule) => [`entry: ${rule}`, compare(plan[rule] ?? [], subjects(rule))]),
  );
  for (const entry of open) await settle(world, entry);
  await announceAll(world);
  const left = (await listAll(payments, stored)).map(({ id }) => id);
  const told = await toldOnce(world);
  const ids = [...new Set([...open.map(({ id }) => id), ...told.opened])];
  return {
    ...compared,
    "entries left": compare([], left),
    "attention.opened": compare(ids, told.opened),
    "attention.closed": compare(ids, told.closed),
    "claims that healed": compare(healed(world, events), told.gone),
  };
}

/** Returns the entries of claims whose payment was completed: no person has settled them. */
function healed({ claimed }, events) {
  const completed = new Set(
    events.filter(({ payment }) => payment?.state === "completed").map(({ clientId }) => clientId),
  );
  return claimed.filter((clientId) => completed.has(clientId)).map((clientId) => `claimed:${clientId}`);
}

/** Sweeps until all entries were read again, and nothing more was announced. */
async function announceAll({ payments, store }) {
  const count = async () =>
    (
      await store.transaction((tx) =>
        tx.query("select count(*) as n from tillkit_events where type like 'attention.%'"),
      )
    ).rows[0].n;
  // A sweep reads 500 entries: the next one may announce what this one did not reach.
  for (let before = -1, same = 0; same < before / 500 + 25;) {
    await payments.sweep();
    const now = await count();
    same = now === before ? same + 1 : 0;
    before = now;
  }
}

/** Returns all entries of these rules. */
export async function listAll(payments, rule) {
  const entries = [];
  let cursor;
  do {
    const page = await payments.attention({ rule, limit: 200, cursor });
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return entries;
}

/** Does what `next` says, as a person would, where the service has nothing more to say. */
async function settle({ payments }, { id, rule, subject, next }) {
  const why = { by, reason: "looked at it" };
  const receiptId = /dismiss --receipt-id (\S+)/.exec(next)?.[1];
  if (rule === "paid_twice") await payments.resolve({ action: "refunded", clientId: subject, ...why });
  else if (rule === "unmatched") await payments.resolve({ action: "dismiss", receiptId, ...why });
  else await payments.attend(id, { action: "settle", ...why });
}

/** Returns the ids of what was announced as opened, as closed, and as closed by no person. */
async function toldOnce({ store }) {
  const { rows } = await store.transaction((tx) =>
    tx.query("select type, payload from tillkit_events where type like 'attention.%' order by seq"),
  );
  const told = rows.map(({ type, payload }) => ({ type, ...JSON.parse(payload) }));
  const idsOf = (wanted) => told.filter(wanted).map(({ entry }) => entry.id);
  return {
    opened: idsOf(({ type }) => type === "attention.opened"),
    closed: idsOf(({ type }) => type === "attention.closed"),
    gone: idsOf(
      ({ type, how, entry }) => type === "attention.closed" && how === "gone" && entry.rule === "claimed",
    ),
  };
}
