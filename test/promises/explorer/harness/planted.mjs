import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Faults of one line, each of which the explorer must find. `text` is replaced in a copy of the compiled kit, and must be in
 * the file exactly once.
 */
export const planted = [
  {
    name: "a `false` of the store's `record` is taken for a commit",
    file: "webhook/recording/recorder.js",
    text: "if (!isRecorded)",
    by: "if (isRecorded === undefined)",
  },
  {
    name: "a rejection of the store's `record` is taken for a commit",
    file: "webhook/recording/webhook-keeper.js",
    text: "this.#spoolOrReject(arrival, error).finally",
    by: "Promise.resolve({ receiptId: arrival.receiptId, outcome: 'applied' }).finally",
  },
  {
    name: "the spool is deleted before the commit",
    file: "webhook/recording/webhook-keeper.js",
    text: "await this.#parts.recorder.recordArrival(fromSpool(webhook));",
    by: "void this.#parts.recorder.recordArrival(fromSpool(webhook)).catch(() => {});",
  },
  {
    name: "a webhook is answered 200 before the sync of the spool",
    file: "webhook/spool/segment-writer.js",
    text: "await segment.handle.datasync();",
    by: "",
  },
  {
    name: "the folder of a new segment is not synced",
    file: "webhook/spool/segment-writer.js",
    text: "await directory.sync();",
    by: "",
  },
  {
    name: "a line in a segment that another process has adopted is acknowledged",
    file: "webhook/spool/segment-writer.js",
    text: "if (await this.#isInPlace(segment)) {",
    by: "if (true) {",
  },
  {
    name: "a crash counts as a failure of the handler",
    file: "dispatch/run-claim.js",
    text: "const failures = claim.failures + 1;",
    by: "const failures = claim.attempt;",
  },
  {
    name: "a lease is renewed after the whole lease",
    file: "dispatch/guard-run.js",
    text: "}, leaseMs / 3);",
    by: "}, leaseMs);",
  },
  {
    name: "a lease is renewed, and its slot is kept, for as long as a transaction hangs",
    file: "dispatch/guard-run.js",
    text: "        stop();\n        // The lease lasts longer",
    by: "        return isAbort ? aborted.reject(reason) : undefined;\n        // The lease lasts longer",
  },
  {
    name: "a claimer's options decide which leases have ended",
    file: "dispatch/dispatcher.js",
    text: "store.claim({ handlers, limit, leaseMs })",
    by: "store.claim({ handlers, limit, leaseMs, maxWaitMs: leaseMs + this.#options.retry.maxDelayMs })",
  },
  {
    name: "a run commits although its lease was lost",
    file: "dispatch/run-claim.js",
    text: 'if (!(await store.settle(tx, { ...idOf(claim), state: "done", isLast: true })))',
    by: 'if (!(await store.settle(tx, { ...idOf(claim), state: "done", isLast: true })) && false)',
  },
  {
    name: "a handler that is added while others are registered stays unknown",
    file: "kit/core.js",
    text: "knownHandlers = keys.length;",
    by: "knownHandlers = handlers.size;",
  },
  {
    name: "webhooks that arrive with their payment are not matched again",
    file: "webhook/recording/recorder.js",
    text: "this.#matchLatecomers(arrivals, receipts);",
    by: "",
  },
  {
    name: "the sweep does not match again",
    file: "operations/raise-waiting.js",
    text: "await (0, rematch_js_1.rematch)(parts, clientIds);",
    by: "",
  },
  {
    name: "an unconfirmed webhook's service id is never asked about",
    file: "operations/lookup/lookups.js",
    text: "for (const serviceId of serviceIds)",
    by: "for (const serviceId of payment.serviceId === undefined ? [] : serviceIds)",
  },
  {
    name: "webhooks that wait are matched twice",
    file: "webhook/recording/rematch.js",
    text: "if (!stillParked.has(receiptId) || ",
    by: "if (",
  },
  {
    name: "a creation whose answer was lost is `failed`",
    file: "service/creation-answer.js",
    text: 'certainty: "uncertain", cause, httpStatus',
    by: 'certainty: "failed", cause, httpStatus',
  },
  {
    name: "a status is looked up among the members of Object.prototype",
    file: "model/status-order.js",
    text: "__proto__: null,",
    by: "",
  },
  {
    name: "amounts are compared as floats",
    file: "model/money.js",
    text: "isAmount(b) && canonicalValue(a) === canonicalValue(b)",
    by: "isAmount(b) && Number(a) === Number(b)",
  },
  {
    name: "any truthy result of a scheme verifies",
    file: "webhook/signature/verify-signature.js",
    text: "if (verified === true)",
    by: "if (verified)",
  },
  {
    name: "a duplicate is recognised by a field that is not signed",
    file: "webhook/message/read-message.js",
    text: 'fields.submittedAt ?? "",',
    by: 'fields.submittedAt ?? "", Math.random(),',
  },
  {
    name: "a second paid attempt fulfils the order again",
    file: "webhook/reconciliation/reconcile.js",
    text: "other.clientId !== payment.clientId && (0, attempts_js_1.paysOrder)(other)",
    by: "other.clientId === payment.clientId && (0, attempts_js_1.paysOrder)(other)",
  },
  {
    name: "a replaced attempt of another amount completes the order",
    file: "webhook/reconciliation/reconcile.js",
    text: "if (!first && !(0, attempts_js_1.sameTotal)(total, payment.total))",
    by: "if (false)",
  },
  {
    name: "only the attempt that replaced a payment is compared with it, not the newest one",
    file: "model/attempts.js",
    text: "while (newest.replacedBy !== undefined)",
    by: "if (newest.replacedBy !== undefined) for (let once = 0; once < 1; once++)",
  },
  {
    name: "a withheld payment counts as the fulfilment of its order",
    file: "model/attempts.js",
    text: 'state === "completed" && withheld === undefined',
    by: 'state === "completed"',
  },
  {
    name: "an order is collected again beside a payment that a person must settle",
    file: "checkout/choose-attempt.js",
    text: 'payment.withheld === "unsettled"',
    by: 'payment.withheld === "unknown"',
  },
  {
    name: "an adopted payment of an earlier amount completes the order",
    file: "model/attempts.js",
    text: "return attempts.find(isMade) ?? newest;",
    by: "return newest;",
  },
  {
    name: "a later status replaces `completed`",
    file: "webhook/reconciliation/reconcile.js",
    text: "if (!(0, status_order_js_1.isFarther)(report.status, payment.status))",
    by: "if (report.status === payment.status)",
  },
  {
    name: "the answer of a creation replaces what a webhook has changed",
    file: "checkout/create-payment.js",
    text: 'const state = current.state === "creating" ? "pending" : current.state;',
    by: 'const state = "pending";',
  },
  {
    name: "a return to the success address marks the payment as paid",
    file: "checkout/handle-return.js",
    text: 'return kind === "cancel" ? "canceled" : "confirming";',
    by: 'return kind === "cancel" ? "canceled" : "paid";',
  },
];

/** Copies the compiled kit into a folder beside it, and plants one fault in the copy. */
export function plant(folder, { file, text, by }) {
  const copy = mkdtempSync(`${folder}-planted-`);
  const remove = () => rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
  const place = path.join(copy, file);
  const source = readFileSync(place, "utf8");
  const times = source.split(text).length - 1;
  if (times !== 1) {
    remove();
    throw new Error(`The text to replace is ${times} times in ${file}, and must be there once: ${text}`);
  }
  writeFileSync(
    place,
    source.replace(text, () => by),
  );
  return { folder: copy, remove };
}
