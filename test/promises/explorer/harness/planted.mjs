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
    text: "this.#noteRecorded(await this.#parts.recorder.record((0, arrival_js_1.fromSpool)(webhook)));",
    by: "void this.#parts.recorder.record((0, arrival_js_1.fromSpool)(webhook)).catch(() => {});",
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
    text: '(await store.settle(tx, { ...(0, guard_run_js_1.idOf)(claim), state: "done", isLast: true }))',
    by: '(await store.settle(tx, { ...(0, guard_run_js_1.idOf)(claim), state: "done", isLast: true }), true)',
  },
  {
    name: "a run whose transaction broke counts as done",
    file: "dispatch/group/run-group.js",
    text: ": await (0, with_timeout_js_1",
    by: ": true || await (0, with_timeout_js_1",
  },
  {
    name: "a handler that is added while others are registered stays unknown",
    file: "kit/core.js",
    text: "index < keys.length",
    by: "index < handlers.size",
  },
  {
    name: "webhooks that arrive with their payment are not matched again",
    file: "webhook/recording/late-matches.js",
    text: "if (latecomers.length > 0)",
    by: "if (false)",
  },
  {
    name: "the sweep does not match again",
    file: "operations/sweep/raise-waiting.js",
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
    text: "if (!still.has(receiptId) || ",
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
    text: "ofOrder.filter((other) => other.clientId !== payment.clientId)",
    by: "ofOrder.filter((other) => other.clientId === payment.clientId)",
  },
  {
    name: "a replaced attempt of another amount completes the order",
    file: "webhook/reconciliation/reconcile.js",
    text: "if (!first && !isAsked)",
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
    name: "a number that a customer gives while a person settles the one before opens nothing",
    file: "checkout/payment-claims.js",
    text: "{ ...open, version: known?.version ?? 0, value: known?.value ?? { since: claim.at } },",
    by: "...(known ? [] : [{ ...open, version: 0, value: { since: claim.at } }]),",
  },
  {
    name: "a claim opens no entry",
    file: "checkout/payment-claims.js",
    text: "{ ...open, version: known?.version ?? 0, value: known?.value ?? { since: claim.at } },",
    by: "",
  },
  {
    name: "refunds may exceed what was paid",
    file: "operations/resolution/refund.js",
    text: "if (rest < 0n || before === 0n)",
    by: "if (before === 0n)",
  },
  {
    name: "an adopted payment of an earlier amount completes the order",
    file: "model/attempts.js",
    text: "last.find(({ returnKeyHash }) => returnKeyHash !== undefined) ??",
    by: "",
  },
  {
    name: "a later status replaces `completed`",
    file: "webhook/reconciliation/reconcile.js",
    text: "if (!(0, status_order_js_1.isFarther)(verified.status, payment.status))",
    by: "if (verified.status === payment.status)",
  },
  {
    name: "the answer of a creation replaces what a webhook has changed",
    file: "checkout/store-results.js",
    text: 'const state = isUnanswered(current) ? "pending" : current.state;',
    by: 'const state = "pending";',
  },
  {
    name: "a return to the success address marks the payment as paid",
    file: "checkout/handle-return.js",
    text: 'return kind === "cancel" ? "canceled" : "confirming";',
    by: 'return kind === "cancel" ? "canceled" : "paid";',
  },
  {
    name: "a webhook that an adapter's database always refuses stops the drain of those behind it",
    file: "webhook/recording/webhook-keeper.js",
    text: "if (!mayBeStore || this.#skips.add(receiptId))",
    by: "if (true)",
  },
  {
    name: "a webhook that an adapter's database always refuses is never set aside",
    file: "webhook/recording/webhook-keeper.js",
    text: "if (!mayBeStore || failures.recorded < this.#recorded)",
    by: "if (!mayBeStore)",
  },
  {
    name: "a webhook that was set aside counts its failures anew",
    file: "webhook/recording/webhook-keeper.js",
    text: "if (failures.count >= maxFailures) {",
    by: "if (failures.count >= maxFailures) { this.#failures.delete(receiptId);",
  },
  {
    name: "the health says nothing of a spool that cannot be used",
    file: "operations/health.js",
    text: "spool_unavailable: spoolProblem ?? false,",
    by: "",
  },
  {
    name: "a drain does not say that it could not read the spool",
    file: "webhook/recording/webhook-keeper.js",
    text: 'this.#parts.notify("spool.unavailable", { error: leftBecause });',
    by: "",
  },
  {
    name: "a drain does not check a spool in which nothing waits",
    file: "webhook/spool/drain-spool.js",
    text: "await (0, check_spool_js_1.checkSpool)(draining.directory, draining.tie, draining.writer);",
    by: "",
  },
  {
    name: "each copy of a webhook that is sent again and again is spooled",
    file: "webhook/recording/webhook-keeper.js",
    text: "const isKept = copies >= maxCopies;",
    by: "const isKept = false;",
  },
  {
    name: "webhooks without their key are set aside",
    file: "webhook/spool/drain-spool.js",
    text: "if (lines.some(({ problem }) => problem === record_line_js_1.noKey))",
    by: "if (false)",
  },
  {
    name: "a directory that everybody may write to is used",
    file: "shared/exposed-path.js",
    text: 'const isExposed = isWritable(stats, "all") ||',
    by: "const isExposed =",
  },
  {
    name: "a spool is tied to no store",
    file: "webhook/spool/store-tie.js",
    text: "if (known.store !== store)",
    by: "if (false)",
  },
  {
    name: "a transaction that hangs is not told",
    file: "dispatch/dispatcher.js",
    text: "this.#track(handler, Promise.allSettled([ended]), this.#hanging);",
    by: "",
  },
  {
    name: "a transaction inside of one that runs again waits for its end",
    file: "store/over/records/keyed-records.js",
    text: "this.#retries.run(() => run(false), maxRetryWaitMs)",
    by: "this.#retries.run(() => run(false))",
  },
  {
    name: "sweeps that exceed what one write takes are not halved",
    file: "operations/sweep/in-groups.js",
    text: 'if ((0, index_js_1.hasCode)(error, "store_conflict"))',
    by: "if (true)",
  },
  {
    name: "the health says nothing of failing sweeps",
    file: "operations/sweep/sweep-payments.js",
    text: "(failure = { count: (failure?.count ?? 0) + 1, error })",
    by: "(failure = { count: 1, error })",
  },
  {
    name: "payments are raised as overdue only beside webhooks without a payment",
    file: "operations/sweep/sweep-payments.js",
    text: "(await step(() => sweepOverdue(parts, overdueMs))) ?? 0",
    by: "unmatched > 0 ? ((await step(() => sweepOverdue(parts, overdueMs))) ?? 0) : 0",
  },
  {
    name: "a handler that the store forgets is not registered again",
    file: "kit/core.js",
    text: "performance.now() - registeredAt > registeredAgainMs",
    by: "false",
  },
  {
    name: "a handler that is registered again does not get what was saved meanwhile",
    file: "kit/core.js",
    text: "since[index] ? { ...key, since: since[index] } : key",
    by: "key",
  },
  {
    name: "an adapter's store forgets what it saved while it registered a handler again",
    file: "store/over/tables/events.js",
    text: "handlers: missing, ...newest",
    by: "handlers: missing.filter(({ since }) => since === undefined), ...newest",
  },
  {
    name: "webhooks wait until the handlers are registered again",
    file: "kit/core.js",
    text: "void register().catch(() => { });",
    by: "await register().catch(() => { });",
  },
  {
    name: "a new handler of an adapter's store gets the events from before",
    file: "store/over/tables/events.js",
    text: "const newest = await this.#newest();",
    by: "const newest = { before: [] };",
  },
  {
    name: "a new handler of an adapter's store gets nothing that was saved beside its registration",
    file: "store/over/tables/events.js",
    text: "handlers: missing, ...newest",
    by: "handlers: missing.filter(({ since }) => since !== undefined), ...newest",
  },
  {
    name: "only the process that registered a new handler of an adapter's store gives it what was saved beside that",
    file: "store/over/tables/events.js",
    text: "const seen = new Map(pending.map(({ id }) => [id, this.#seen.get(id) ?? now]));",
    by: "const seen = new Map(this.#seen);",
  },
  {
    name: "an adapter's store forgets a registration before the transactions of its moment have ended",
    file: "store/over/tables/events.js",
    text: ">= maxTransactionMs",
    by: ">= 0",
  },
  {
    name: "a wait that began during a claim looks like one of a clock that was put back",
    file: "store/over/tables/dispatches.js",
    text: "found.some(({ dueAt }) => dueAt > now) ? await this.#records.now() : now",
    by: "now",
  },
  {
    name: "a store that went back is not noticed",
    file: "kit/watch-store.js",
    text: "if (!found)",
    by: "if (false)",
  },
  {
    name: "the directory of the spool remembers no webhook",
    file: "kit/watch-store.js",
    text: "await spool.tie.remember({ store, ...row });",
    by: "",
  },
  {
    name: "an empty database in the place of the store is not noticed",
    file: "kit/watch-store.js",
    text: "if (this.#identity !== undefined && found !== this.#identity)",
    by: "if (false)",
  },
  {
    name: "the watch of the store ends with a start that fails",
    file: "kit/background.js",
    text: "finally {",
    by: "finally { } {",
  },
  {
    name: "a webhook that a lookup confirmed counts as lost",
    file: "webhook/recording/plan-group.js",
    text: "const stored = waiting?.receiptId ?? receiptId;",
    by: "const stored = receiptId;",
  },
];

/** Returns the file of the compiled kit with one fault. Throws if the fault does not fit in one place. */
export function plantIn(folder, { name, file, text, by }) {
  const source = readFileSync(path.join(folder, file), "utf8");
  const times = source.split(text).length - 1;
  if (times !== 1)
    throw new Error(
      `${name}: the text to replace is ${times} times in ${file}, and must be there once: ${text}`,
    );
  return source.replace(text, () => by);
}

/** Copies the compiled kit into a folder beside it, and plants one fault in the copy. */
export function plant(folder, fault) {
  const planted = plantIn(folder, fault);
  const copy = mkdtempSync(`${folder}-planted-`);
  cpSync(folder, copy, { recursive: true });
  writeFileSync(path.join(copy, fault.file), planted);
  return { folder: copy, remove: () => rmSync(copy, { recursive: true, force: true }) };
}
