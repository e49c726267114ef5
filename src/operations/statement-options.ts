import { TillkitError } from "../errors/index.js";
import { isDateTime, sortableTime } from "../shared/date-time.js";
import { describeUnknown, type NamesOf } from "../shared/unknown-names.js";

/** Options of the comparison of a statement with the stored payments. */
export interface StatementOptions {
  /**
   * The period of the statement. Payments that were completed in the period must be on the statement. `to` is
   * not included. A string in ISO 8601 needs an offset or `Z`.
   *
   * @default the whole days from the earliest to the latest `time` of the rows, in the offset of each time.
   * Without a period, every row of a payment or a refund needs a time
   */
  period?: { from: Date | string; to: Date | string } | undefined;
  /**
   * The statuses that mean "paid", in any letter case. A row without a status is paid, too.
   * @default completed, paid, settled, success, successful, succeeded
   */
  paidStatuses?: readonly string[] | undefined;
  /**
   * The prefix of this shop's clientIds. Rows with another prefix are foreign and are not compared, unless
   * they name an adopted payment, or have the service id of a payment of this shop.
   *
   * @default the kit's `clientIdPrefix` in `payments.compareStatement`. In the function `compareStatement`,
   * no prefix, so that no row is foreign
   */
  clientIdPrefix?: string | undefined;
  /**
   * The time from each end of the period in which an unlisted completion is `at_edge` instead of
   * `missing_there`, in milliseconds. Less than half of the period.
   * @default 0
   */
  edgeMs?: number | undefined;
  /**
   * Payments that were created before this time are not read, so a large store is read faster. An earlier
   * payment that was completed in the period is overlooked. Not after the start of the period.
   * @default all payments are read
   */
  createdFrom?: Date | string | undefined;
  /**
   * The directory for temporary files: about 200 bytes for each row and each payment of the period. Only this
   * user can read them, and they are removed at the end.
   * @default the directory of the system
   */
  temporaryDirectory?: string | undefined;
  /** Stops the run when it aborts. @default none */
  signal?: AbortSignal | undefined;
  /** Called after each batch. @default none */
  onProgress?: ((progress: StatementProgress) => void) | undefined;
  /** @internal For tests. */
  sort?: { runLines?: number; fanIn?: number } | undefined;
}

/** The progress of a run. */
export interface StatementProgress {
  /** The step: reading rows, reading stored payments, or finding payments that are on one side only. */
  phase: "statement" | "stored" | "sides";
  /** The number of rows that were read so far. */
  rows: number;
  /** The number of stored payments that were read so far. */
  payments: number;
}

/** The options with every default filled in, except the period. */
export type ResolvedStatementOptions = ReturnType<typeof resolveStatementOptions>;

/** A half-open period in ISO 8601 UTC with milliseconds, like the times of stored payments. */
export interface Period {
  from: string;
  to: string;
}

/** The statuses that mean "paid" if the option `paidStatuses` is not given. */
export const defaultPaidStatuses: ReadonlySet<string> = new Set([
  "completed",
  "paid",
  "settled",
  "success",
  "successful",
  "succeeded",
]);

const optionNames = {
  period: 1,
  paidStatuses: 1,
  clientIdPrefix: 1,
  edgeMs: 1,
  createdFrom: 1,
  temporaryDirectory: 1,
  signal: 1,
  onProgress: 1,
  sort: 1,
} satisfies NamesOf<StatementOptions>;

/** Checks the options and fills in defaults. Throws `option_invalid` if an option is not valid. */
export function resolveStatementOptions(options: StatementOptions) {
  const { period, paidStatuses, edgeMs = 0, createdFrom } = options;
  const unknown = describeUnknown(options, optionNames) ?? describeUnknown(period, { from: 1, to: 1 });
  if (unknown !== undefined) throw invalidOption(unknown);
  const isList = Array.isArray(paidStatuses) && paidStatuses.every((status) => typeof status === "string");
  if (paidStatuses !== undefined && !isList) throw invalidOption("paidStatuses must be a list of statuses.");
  if (!Number.isFinite(edgeMs) || edgeMs < 0)
    throw invalidOption("edgeMs must be a number of milliseconds, 0 or more.");
  const resolved: Period | undefined = period && {
    from: boundOf("period.from", period.from),
    to: boundOf("period.to", period.to),
  };
  if (resolved && resolved.from >= resolved.to)
    throw invalidOption(`period.from (${resolved.from}) must be before period.to (${resolved.to}).`);
  const limits = {
    edgeMs,
    createdFrom: createdFrom === undefined ? undefined : boundOf("createdFrom", createdFrom),
  };
  if (resolved) refuseWideLimits(limits, resolved);
  return {
    ...options,
    period: resolved,
    paidStatuses: paidStatuses
      ? new Set(paidStatuses.map((status) => status.toLowerCase()))
      : defaultPaidStatuses,
    ...limits,
  };
}

/**
 * Throws `option_invalid` if the limits leave out payments of the whole period. The comparison could then not
 * find that such a payment is missing on the statement.
 */
export function refuseWideLimits(
  { edgeMs, createdFrom }: { edgeMs: number; createdFrom: string | undefined },
  { from, to }: Period,
): void {
  if (edgeMs > 0 && 2 * edgeMs >= Date.parse(to) - Date.parse(from))
    throw invalidOption(`edgeMs must be less than half of the period from ${from} to ${to}.`);
  if (createdFrom !== undefined && createdFrom > from)
    throw invalidOption(`createdFrom (${createdFrom}) must not be after the start of the period (${from}).`);
}

function boundOf(option: string, given: Date | string): string {
  // A time without an offset would depend on the time zone of the machine.
  const isUsable =
    typeof given !== "string" ||
    // JavaScript reads 31 September as 1 October.
    (/^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(given) && isDateTime(`${given.slice(0, 10)}T00:00:00Z`));
  const date = new Date(given);
  if (!isUsable || Number.isNaN(date.getTime()))
    throw invalidOption(
      `${option} must be a Date or an ISO 8601 string with an offset, such as "2024-05-01T00:00:00Z".`,
    );
  return sortableTime(date);
}

/** Returns the error for an option with a wrong value. */
export function invalidOption(message: string): TillkitError {
  return new TillkitError("option_invalid", message);
}

/** Returns a run with the findings and the summary of the generator. */
export function statementRun<Finding, Summary>(reading: AsyncGenerator<Finding, Summary, undefined>) {
  let summary: Summary | undefined;
  let failure: { error: unknown } | undefined;
  async function* read(): AsyncGenerator<Finding, void, undefined> {
    try {
      const end: Summary | undefined = yield* reading;
      summary ??= end;
    } catch (error) {
      failure = { error };
    }
    // A generator throws its error only once. Each later read of a failed run throws the error again, so that
    // the run does not look like a run without findings.
    if (failure) throw failure.error;
  }
  return {
    [Symbol.asyncIterator]: read,
    async summary(): Promise<Summary> {
      const rest = read();
      while (!(await rest.next()).done);
      if (summary === undefined) throw new Error("The run was stopped early, so it has no summary.");
      return summary;
    },
  };
}
