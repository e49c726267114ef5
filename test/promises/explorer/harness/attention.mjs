import { randomFrom } from "../../crash/harness/random.mjs";
import { sweepAll } from "./troubles.mjs";

const hour = 60 * 60_000;
/** Webhooks with these outcomes need a person only after the default of `unmatchedAfterMs`. */
const waiting = ["unmatched", "unconfirmed"];
const unmatchedAfterMs = 5 * 60_000;

/** The rules whose facts the tables of the database show. */
const rules = [
  "claimed",
  "paid_other_amount",
  "paid_twice",
  "mismatched",
  "paid_late",
  "unmatched",
  "unconfirmed",
  "dead_dispatch",
  "creation_uncertain",
  "overdue",
];

/** Returns whether the shop of this run has a handler of what needs a person. Only a store over an adapter has notes here. */
export function announces(seed, { over }) {
  return over !== undefined && randomFrom(seed ^ 0xa77).chance(0.5);
}

/**
 * Checks that each fact that needs a person is listed, that each entry is announced once, and once again where it is closed. Then people
 * settle what they can, two of them at the same moment.
 */
export async function checkAttention(parts) {
  const { world, shop, traffic } = parts;
  if (!shop.setup.announces) return;
  world.ioShare = 1;
  const listed = await check(parts);
  for (const id of listed) {
    // The customer may give another number while a person settles what was claimed before.
    if (id.startsWith("claimed:") && world.random.chance(0.5))
      traffic.claim(id.slice("claimed:".length), "SMS 2002");
    await call(parts, "settle", (payments, by) => payments.attend(id, settling(by)));
  }
  const left = await check(parts);
  for (const id of left)
    if (!/^(paid_other_amount|claimed):/.test(id))
      world.violate("attention", `${id} was settled and is listed`);
}

const settling = (by) => ({ action: "settle", reason: "looked at it", by });

async function check(parts) {
  const { world, database, traffic } = parts;
  const violate = (text) => world.violate("attention", text);
  await world.run(() => traffic.pending.size === 0, 6000);
  // The first announces what it has raised, the second what another process overtook.
  await sweepAll(parts);
  await sweepAll(parts);
  const listed = await list(parts);
  const facts = factsIn(database, world.wall());
  for (const { clientId, number } of traffic.keptClaims)
    if (!claimsOf(database, clientId).some((claim) => isSame(claim.number, number)))
      violate(`the claim ${number} of ${clientId} was thanked for and is not stored`);
  // A dead dispatch stays, and is hidden by what the person said.
  for (const id of facts)
    if (!listed.includes(id) && !id.startsWith("dead_dispatch:"))
      violate(`${id} needs a person and is not listed`);
  for (const id of listed) if (!facts.includes(id)) violate(`${id} is listed and needs nobody`);
  const open = new Map();
  for (const { type, payload } of database.events.values()) {
    if (type !== "attention.opened" && type !== "attention.closed") continue;
    const { id, rule } = payload.entry;
    const isOpening = type === "attention.opened";
    if ((open.get(id) ?? false) === isOpening) violate(`${type} of ${id} was raised twice`);
    if (rules.includes(rule)) open.set(id, isOpening);
  }
  for (const id of listed) if (!open.get(id)) violate(`${id} is listed and not announced`);
  for (const [id, isOpen] of open)
    if (isOpen && !listed.includes(id)) violate(`${id} is closed, and that is not announced`);
  return listed;
}

/** Calls two processes, if there are two, and returns the first answer. */
async function call({ world, traffic, shop }, what, run) {
  const calls = shop.running.slice(0, 2).map(({ process, payments }, person) => {
    const expected = traffic.expect(what, process);
    const take = (answer) => {
      expected.answer = answer;
      expected.end();
    };
    world.start(process, what, () => void run(payments, `person ${person}`).then(take, expected.end));
    return expected;
  });
  await world.run(() => !calls.some((one) => traffic.pending.has(one)), 6000);
  return calls[0].answer;
}

async function list(parts) {
  const ids = [];
  let cursor;
  do {
    const query = { rule: rules, snoozed: true, cursor };
    const page = await call(parts, "attention", (payments) => payments.attention(query));
    ids.push(...(page?.entries ?? []).map(({ id }) => id));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return ids;
}

/** Returns the ids of what needs a person, as the tables say it. */
function factsIn(database, now) {
  const { payments, webhooks, dispatches, resolutions } = database;
  const resolved = new Set([...resolutions.values()].map(({ receiptId }) => receiptId));
  const found = [
    ...[...payments.values()].flatMap((one) => (isClaimed(database, one) ? [`claimed:${one.clientId}`] : [])),
    ...[...payments.values()].flatMap((one) => needsOf(one, now).map((rule) => `${rule}:${one.clientId}`)),
    ...[...webhooks.values()].flatMap(({ outcome, receiptId, receivedAt, clientId = receiptId }) => {
      const rule = outcome === "mismatch" ? "mismatched" : outcome;
      // A webhook that helped a refused one out of the spool may have arrived only just now.
      const isYoung = waiting.includes(rule) && now - Date.parse(receivedAt) < unmatchedAfterMs;
      return rules.includes(rule) && !isYoung && !resolved.has(receiptId) ? [`${rule}:${clientId}`] : [];
    }),
    ...[...dispatches].flatMap(([key, { state }]) =>
      state === "dead" ? [`dead_dispatch:${key.replace(" ", ":")}`] : [],
    ),
  ];
  // All webhooks of one payment are one entry.
  return [...new Set(found)];
}

/** Returns whether the customer gave a number for a payment that is not completed, and no person has settled it with that number. */
function isClaimed(database, { clientId, state }) {
  const settled = database.notes.get(`attention claimed:${clientId}`)?.value.settled;
  const seen = settled?.evidence.claims ?? [];
  const isNew = ({ number }) => !seen.some((claim) => isSame(claim.number, number));
  return state !== "completed" && claimsOf(database, clientId).some(isNew);
}

function claimsOf(database, clientId) {
  return database.notes.get(`claim ${clientId}`)?.value.claims ?? [];
}

function isSame(one, other) {
  const letters = (text) => text.replace(/[ -]/g, "").toUpperCase();
  return letters(one) === letters(other);
}

/** What is open is overdue, because a day has passed. An intent that an outage delayed may be younger. */
function needsOf({ state, withheld, attention, createdAt }, now) {
  if (withheld === "unsettled") return ["paid_other_amount"];
  if (attention !== undefined) return attention === "settled" ? [] : [attention];
  if (now - Date.parse(createdAt) < hour * (state === "uncertain" ? 1 : 24)) return [];
  if (state === "creating" || state === "uncertain") return ["creation_uncertain"];
  return state === "pending" ? ["overdue"] : [];
}
