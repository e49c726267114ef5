import { type ConfigurationProblem } from "../../errors/index.js";
import { isWholeNumber, maxTimerMs } from "../../shared/whole-number.js";

/** How the service is asked about payments. Each default can be left; `lookup: true` takes them all. */
export interface LookupOptions {
  /**
   * How long after its creation a payment is asked about for the first time. The wait doubles with each question.
   * @default 120000 (2 minutes)
   */
  afterMs?: number | undefined;
  /** The longest wait between two questions about one payment. @default 21600000 (6 hours) */
  maxDelayMs?: number | undefined;
  /** How long after its creation a payment is asked about for the last time. @default 259200000 (3 days) */
  giveUpAfterMs?: number | undefined;
  /** Most questions of this process in one second. @default 5 */
  perSecond?: number | undefined;
  /**
   * How long after the browser came back to the success address its payment is asked about, unless the webhook came.
   * @default 3000
   */
  afterReturnMs?: number | undefined;
  /** The longest that one question may take, token included. @default 10000 */
  timeoutMs?: number | undefined;
}

/** The options with nothing left open. */
export type ResolvedLookup = typeof defaults;

const defaults = {
  afterMs: 2 * 60 * 1000,
  maxDelayMs: 6 * 60 * 60 * 1000,
  giveUpAfterMs: 3 * 24 * 60 * 60 * 1000,
  perSecond: 5,
  afterReturnMs: 3000,
  timeoutMs: 10_000,
};

/** The options of waiting and asking, with nothing left open. */
export interface ResolvedLookupOptions {
  unmatchedAfterMs: number;
  clientIdPrefix: string | undefined;
  /** Absent where nothing is looked up. */
  lookup: ResolvedLookup | undefined;
  confirm: "lookup" | undefined;
}

const unmatchedAfterMsDefault = 5 * 60 * 1000;

/** Fills in the defaults of options that {@link lookupProblems} has nothing to say of. */
export function resolveLookupOptions(options: Given): ResolvedLookupOptions {
  const { unmatchedAfterMs = unmatchedAfterMsDefault, clientIdPrefix, lookup, confirm } = options;
  return { unmatchedAfterMs, clientIdPrefix, lookup: resolveLookup(lookup), confirm };
}

function resolveLookup(lookup: LookupOptions | boolean | undefined): ResolvedLookup | undefined {
  if (lookup === undefined || lookup === false) return undefined;
  if (lookup === true) return defaults;
  const given = Object.entries(lookup).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}

/** After how long a payment may be asked about for the first time, also where nothing asks yet. */
export function firstLookupAt(createdAt: Date, lookup: ResolvedLookup | undefined): string {
  return new Date(createdAt.getTime() + (lookup ?? defaults).afterMs).toISOString();
}

interface Given {
  unmatchedAfterMs?: number | undefined;
  clientIdPrefix?: string | undefined;
  lookup?: LookupOptions | boolean | undefined;
  confirm?: "lookup" | undefined;
  store?: { parked?: unknown } | undefined;
}

/** What is wrong with the options of prefix, lookup and confirmation. */
export function lookupProblems(given: Given): ConfigurationProblem[] {
  const { unmatchedAfterMs, clientIdPrefix, lookup, confirm } = given;
  const problems: ConfigurationProblem[] = [];
  const invalid = (option: string, message: string): void =>
    void problems.push({ code: "option_invalid", option, message });

  const isTime =
    unmatchedAfterMs === undefined || isWholeNumber(unmatchedAfterMs, 1, Number.MAX_SAFE_INTEGER);
  if (!isTime) invalid("unmatchedAfterMs", `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}.`);

  const isPrefix = typeof clientIdPrefix === "string" && /^[A-Za-z0-9._:-]{1,24}$/.test(clientIdPrefix);
  if (clientIdPrefix !== undefined && !isPrefix)
    invalid("clientIdPrefix", "must be 1 to 24 characters of A-Z a-z 0-9 . _ : -, or left out.");

  if (typeof lookup === "object" && lookup !== null) {
    for (const name of Object.keys(defaults) as (keyof ResolvedLookup)[]) {
      const value: unknown = lookup[name];
      const most =
        name === "timeoutMs" || name === "afterReturnMs"
          ? maxTimerMs
          : name === "perSecond"
            ? 10_000
            : Number.MAX_SAFE_INTEGER;
      if (value !== undefined && !isWholeNumber(value, 1, most))
        invalid(`lookup.${name}`, `must be a whole number from 1 to ${most}.`);
    }
  } else if (lookup !== undefined && typeof lookup !== "boolean") {
    invalid("lookup", "must be true, false, or an object of options.");
  }

  if (confirm !== undefined && confirm !== "lookup") invalid("confirm", 'must be "lookup", or left out.');
  else if (confirm === "lookup" && !lookup)
    invalid("confirm", 'is "lookup", and nothing is looked up: set lookup: true, or leave confirm out.');
  else if (confirm === "lookup" && typeof given.store?.parked !== "function")
    invalid("confirm", 'is "lookup", and the store has no parked() that would find what waits.');
  return problems;
}
