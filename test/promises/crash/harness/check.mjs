import { readFileSync } from "node:fs";
import { groupBy } from "./group-by.mjs";
import { checkPayment, checkRecords, checkRuns } from "./check-payments.mjs";

/**
 * Compares what was acknowledged (every 200), recorded (the store) and effected (the ledger). Call it after
 * everything was dispatched.
 */
export async function check({ database, sent, effects, deaths, spooled, setAside }) {
  const findings = { lost: [], unexpected: [], duplicated: [] };
  const { payments, webhooks, dispatches, unexpanded, ledger } = await database.records();
  const notes = readNotes(effects);
  const runs = notes.filter((note) => note.eventId);
  const spooledReceipts = new Set(notes.filter((note) => note.spooled).map((note) => note.spooled));

  const rows = groupBy(ledger, (row) => row.client_id);
  const sends = groupBy(sent.all(), (entry) => entry.clientId);
  findings.unexpected.push(...deaths, ...sent.strange);
  for (const payment of payments) {
    checkPayment(payment, sends.get(payment.client_id) ?? [], rows.get(payment.client_id) ?? [], findings);
  }
  checkRecords(sent, webhooks, findings);
  checkRuns(runs, ledger, findings);
  for (const { event_id: id, handler, state } of dispatches) {
    if (state !== "done") findings.unexpected.push(`the dispatch of event ${id} to "${handler}" is ${state}`);
  }
  for (const { id } of unexpanded)
    findings.unexpected.push(`event ${id} was never dispatched to its handlers`);

  for (const name of spooled()) findings.unexpected.push(`${name} was never drained from the spool`);
  for (const name of setAside()) findings.unexpected.push(`the spool set ${name} aside`);

  const throughSpool = new Set(
    webhooks
      .filter((row) => spooledReceipts.has(row.receipt_id))
      .map((row) => `${row.client_id} ${row.status}`),
  );
  return {
    lost: findings.lost.length,
    unexpected: findings.unexpected.length,
    duplicated: findings.duplicated.length,
    recovered: countRecovered(ledger, sent, throughSpool),
    spooled: spooledReceipts.size,
    effects: ledger.length,
    runsCutShort: runs.length - ledger.length,
    findings,
  };
}

/**
 * Counts effects that exist although a crash disturbed them: their first run did not commit, or their webhook got no answer, was
 * refused, or came through the spool. A run without such effects proves nothing.
 */
function countRecovered(ledger, sent, throughSpool) {
  return ledger.filter(({ client_id: id, attempt }) => {
    const completed = sent.find(id, "completed");
    const cutOff = completed && completed.unanswered + completed.refused > 0;
    return Number(attempt) > 1 || cutOff || throughSpool.has(`${id} completed`);
  }).length;
}

function readNotes(file) {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}
