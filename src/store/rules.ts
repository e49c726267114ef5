import {
  type DispatchRecord,
  type EventRecord,
  type HandlerKey,
  type Outcome,
  type PaymentPosition,
  type RetireOptions,
  type RunKey,
  type Settlement,
} from "./records.js";

/** Returns whether the webhook waits for its payment, or for a lookup. */
export function isWaiting({ outcome }: { outcome: Outcome }): boolean {
  return outcome === "unmatched" || outcome === "unconfirmed";
}

/** Returns whether the webhook is decided again when its payment appears. */
export function isRematchable(webhook: { outcome: Outcome }): boolean {
  return isWaiting(webhook) || webhook.outcome === "foreign";
}

/** Returns whether a person must settle the webhook. Its bytes are kept until then. */
export function needsResolution({ outcome }: { outcome: Outcome }): boolean {
  return outcome === "mismatch";
}

/** Returns whether a handler wants events of this type. */
export function wants(key: HandlerKey, type: EventRecord["type"]): boolean {
  return key.event === "*" || key.event === type;
}

/** Returns the names of the handlers that want events of this type. One name may be registered for this event and for all events. */
export function namesWanting(handlers: readonly HandlerKey[], type: EventRecord["type"]): string[] {
  return [...new Set(handlers.filter((key) => wants(key, type)).map(({ name }) => name))];
}

/** Returns those handlers that are not registered yet. */
export function unknownAmong<Key extends HandlerKey>(
  handlers: readonly Key[],
  known: readonly HandlerKey[],
): Key[] {
  return handlers.filter(({ event, name }) => !known.some((one) => one.event === event && one.name === name));
}

/** Returns the registrations that are left after some were retired. */
export function leftAfter(
  { handler, event }: Omit<RetireOptions, "limit">,
  known: readonly HandlerKey[],
): HandlerKey[] {
  return known.filter((key) => key.name !== handler || (event !== undefined && key.event !== event));
}

type State = Pick<DispatchRecord, "state">;

/** Returns whether the dispatch waits for a run, or has one. */
export function isOpen({ state }: State): boolean {
  return state === "pending" || state === "leased";
}

/** Returns whether the dispatch never changes again, so that its event can be pruned. */
export function isFinal({ state }: State): boolean {
  return state === "done" || state === "retired";
}

/** Returns whether this run has the newest lease of the dispatch. */
export function isLeasedBy(run: Pick<RunKey, "fence">, dispatch: State & Pick<RunKey, "fence">): boolean {
  return dispatch.state === "leased" && dispatch.fence === run.fence;
}

/** A dispatch before its first run, and after it was revived. */
export const undone = { state: "pending", dueAt: 0, attempt: 0, failures: 0 } as const;

type Counts = Pick<DispatchRecord, "state" | "attempt" | "failures">;

/** Returns what the end of a run changes in the counts of its dispatch. */
export function countsAfter({ state }: Pick<Settlement, "state">, { attempt, failures }: Counts): Counts {
  if (state === "done" || state === "dead") return { state, attempt, failures };
  const isFailed = state === "failed";
  return {
    state: "pending",
    attempt: isFailed ? attempt : attempt - 1,
    failures: isFailed ? failures + 1 : failures,
  };
}

/** Compares two payments by their creation. */
export function byCreation(a: PaymentPosition, b: PaymentPosition): number {
  const [left, right] = [`${a.createdAt} ${a.clientId}`, `${b.createdAt} ${b.clientId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
