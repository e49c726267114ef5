import { TillkitError } from "../errors/index.js";
import { type SortLimits } from "./sorting/external-sort.js";

/** How a statement is compared with the books. */
export interface ReconcileOptions {
  /**
   * The time that the statement is about, from `from` (included) to `to` (not): payments that the books completed in it must
   * be on the statement. An ISO 8601 text needs an offset or `Z`.
   *
   * @default the whole UTC days from the earliest to the latest `time` of the rows, which then must all have one
   */
  period?: { from: Date | string; to: Date | string } | undefined;
  /**
   * Statuses that mean "the money came", in any case. A row without a status counts as paid.
   *
   * @default ["completed", "paid", "settled", "success", "successful", "succeeded"]
   */
  paidStatuses?: readonly string[] | undefined;
  /**
   * What the clientIds of this shop begin with. Rows with another clientId are counted as foreign, and not compared.
   *
   * @default the kit's own `clientIdPrefix`, where it has one
   */
  clientIdPrefix?: string | undefined;
  /**
   * How near to an end of the period a completion may be, in milliseconds, to be told as `at_edge` instead of `missing_there`:
   * a webhook comes later than the provider's own time.
   *
   * @default 0
   */
  edgeMs?: number | undefined;
  /**
   * Payments created before are not asked for when the books are read. Makes a large store faster to read, and overlooks
   * payments that took longer than that to be completed.
   *
   * @default none: every completed payment created before the end of the period is read
   */
  createdFrom?: Date | string | undefined;
  /**
   * Where marks are sorted when they are too many for memory: about 200 bytes for each row and each payment of the period,
   * with ids, references and amounts, readable by this user only, removed at the end.
   *
   * @default the system's own
   */
  temporaryDirectory?: string | undefined;
  /** Stops the run. */
  signal?: AbortSignal | undefined;
  /** Told after each batch. */
  onProgress?: ((progress: StatementProgress) => void) | undefined;
  /** @internal For tests. */
  sort?: SortLimits | undefined;
}

/** How far a run is. */
export interface StatementProgress {
  /** Reading rows, reading the books, or telling what is on one side only. */
  phase: "statement" | "books" | "sides";
  rows: number;
  /** Payments of the books that were read so far. */
  payments: number;
}

/** The options with nothing left open but the period. */
export interface ResolvedReconcileOptions extends Omit<ReconcileOptions, "period" | "paidStatuses"> {
  period: Period | undefined;
  paidStatuses: ReadonlySet<string>;
  edgeMs: number;
  createdFrom: string | undefined;
}

/** Half-open; ISO 8601 UTC with milliseconds, as the books have it. */
export interface Period {
  from: string;
  to: string;
}

const paidByDefault = ["completed", "paid", "settled", "success", "successful", "succeeded"];

/** @throws TillkitError `option_invalid` */
export function resolveReconcileOptions(options: ReconcileOptions): ResolvedReconcileOptions {
  const { period, paidStatuses = paidByDefault, edgeMs = 0, createdFrom } = options;
  if (!Number.isFinite(edgeMs) || edgeMs < 0)
    throw invalid("edgeMs must be a number of milliseconds, 0 or more.");
  const resolved = period && {
    from: instant("period.from", period.from),
    to: instant("period.to", period.to),
  };
  if (resolved && resolved.from >= resolved.to)
    throw invalid(`period.from (${resolved.from}) must be before period.to (${resolved.to}).`);
  return {
    ...options,
    period: resolved,
    paidStatuses: new Set(paidStatuses.map((status) => status.toLowerCase())),
    edgeMs,
    createdFrom: createdFrom === undefined ? undefined : instant("createdFrom", createdFrom),
  };
}

function instant(option: string, given: Date | string): string {
  // A text without an offset would mean another time on another machine.
  const isText = typeof given === "string";
  const date =
    isText && !/^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(given) ? undefined : new Date(given);
  if (!date || Number.isNaN(date.getTime()))
    throw invalid(
      `${option} must be a Date or an ISO 8601 text with an offset, such as "2024-05-01T00:00:00Z".`,
    );
  return date.toISOString();
}

function invalid(message: string): TillkitError {
  return new TillkitError("option_invalid", message);
}
