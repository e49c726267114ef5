import { groupBy } from "./group-by.mjs";

/** The rank of each status that the harness sends. It does not come from the kit. */
const ranks = { pending: 1, submitted: 3, failed: 6, canceled: 7, completed: 8 };

/** Compares one stored payment with the webhooks that were sent about it and with its rows in the ledger. */
export function checkPayment(
  { client_id: id, state, status },
  sends,
  rows,
  { lost, unexpected, duplicated },
) {
  const known = sends.map((entry) => entry.status);
  const farthest = Math.max(1, ...sends.filter((s) => s.acknowledged > 0).map((s) => ranks[s.status]));
  if (ranks[status] < farthest)
    lost.push(`${id} is ${status}, although a webhook with a later status was answered 200`);
  if (state === "completed" && rows.length === 0) lost.push(`${id} is completed and has no ledger row`);

  if (status !== "pending" && !known.includes(status))
    unexpected.push(`${id} is ${status}, and no webhook had that status`);
  if (state !== (["pending", "submitted"].includes(status) ? "pending" : status))
    unexpected.push(`${id} has state ${state} and status ${status}`);
  if (rows.length > 0 && state !== "completed")
    unexpected.push(`${id} has a ledger row and is ${state}, not completed`);
  if (rows.length > 1)
    duplicated.push(`${id} has ${rows.length} ledger rows: ${rows.map(describe).join("; ")}`);
}

/** Checks that every 200 has a row or is counted as a copy, and that every row was sent and has the right outcome. */
export function checkRecords(sent, webhooks, { lost, unexpected }) {
  const recorded = new Map();
  for (const { client_id: id, status, outcome, copies } of webhooks) {
    const key = `${id} ${status}`;
    recorded.set(key, (recorded.get(key) ?? 0) + 1 + Number(copies));
    const expected = status === "completed" ? ["applied"] : ["applied", "stale"];
    if (!sent.find(id, status)) unexpected.push(`a webhook ${key} is recorded, but was never sent`);
    else if (!expected.includes(outcome)) unexpected.push(`the webhook ${key} has the outcome ${outcome}`);
  }
  for (const { clientId, status, acknowledged } of sent.all()) {
    const arrived = recorded.get(`${clientId} ${status}`) ?? 0;
    if (arrived < acknowledged)
      lost.push(`${clientId} ${status} was answered 200 ${acknowledged} times and recorded ${arrived} times`);
  }
}

/** Checks that each event has one idempotencyKey in all its runs, also in runs that a crash ended. */
export function checkRuns(runs, ledger, { unexpected }) {
  const keys = groupBy(runs, (run) => run.eventId);
  for (const [eventId, all] of keys) {
    const distinct = new Set(all.map((run) => run.idempotencyKey));
    if (distinct.size > 1)
      unexpected.push(`event ${eventId} ran with ${distinct.size} different idempotencyKeys`);
  }
  const owners = groupBy(runs, (run) => run.idempotencyKey);
  for (const [key, all] of owners) {
    if (new Set(all.map((run) => run.eventId)).size > 1)
      unexpected.push(`the idempotencyKey ${key} was given to several events`);
  }
  for (const row of ledger) {
    if (!keys.get(row.event_id)?.some((run) => run.idempotencyKey === row.idempotency_key))
      unexpected.push(`the ledger row of ${row.client_id} has a key that no run had`);
  }
}

function describe(row) {
  return `event ${row.event_id}, attempt ${row.attempt}`;
}
