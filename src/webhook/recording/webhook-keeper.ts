import { type ErrorCode, hasCode, WebhookRejectedError } from "../../errors/index.js";
import { type Notify } from "../../model/notice-map.js";
import { loggable } from "../../errors/conceal-secrets.js";
import { type Spool } from "../spool/spool.js";
import { type SpooledWebhook } from "../spool/record-line.js";
import { DeadlineError } from "../../shared/group-commit.js";
import { type Arrival, fromSpool, type Receipt } from "./arrival.js";
import { type Recorder } from "./recorder.js";
import { Skips } from "./skips.js";

/** The parts of the kit that {@link WebhookKeeper} uses. */
export interface KeeperParts {
  recorder: Pick<Recorder<unknown>, "record" | "recordAll">;
  /** Keeps webhooks that the store cannot record. `undefined` if no spool is configured. */
  spool: Spool | undefined;
  /** Rejects if the store cannot write now. A single webhook is then not the cause of a failure. */
  probe: () => Promise<unknown>;
  notify: Notify;
  /** The maximum number of spooled webhooks in one commit. */
  maxGroup: number;
  /** The interval of drains. A drain also looks for segments of ended processes. */
  drainMs: number;
}

/** The codes of errors with which the store refuses every webhook, and not only one. */
const storeCodes: readonly ErrorCode[] = [
  "store_closed",
  "driver_missing",
  "option_invalid",
  "path_exposed",
  "schema_too_new",
  "database_refused",
  "database_unexamined",
];

/** The codes of errors that may be about the whole store, or only about the row of one webhook. */
const unclearCodes: readonly ErrorCode[] = ["store_unavailable", "adapter_defective", "store_busy"];

/** The codes of errors that mean that the spool does not work. */
const spoolCodes: readonly ErrorCode[] = ["spool_unavailable", "spool_full", "path_exposed"];

/** The maximum number of eventKeys whose copies in the spool are limited. Others may have more copies. */
const maxWaiting = 10_000;

/** The maximum number of spooled copies of one webhook. No correct sender sends so many. */
const maxCopies = 50;

/** A webhook that waits in the spool. */
interface WaitingWebhook {
  copies: number;
  /** The last append of a copy. */
  appending: Promise<void>;
}

/** After this many failures while the store is available, a spooled webhook is set aside for a person. */
const maxFailures = 3;

/** The present problem with storing webhooks in this process. */
export interface Keeping {
  /** The time at which the store began to fail, by `performance.now()`. Absent while it records webhooks. */
  failingSince?: number;
  /** The cause if the last webhook was not kept: the store, or only this webhook. */
  refused?: "store" | "webhook";
}

/** Thrown for a spooled webhook that is set aside. */
class SetAsideError extends Error {}

/** Thrown for a spooled webhook that waits for the next drain. This drain continues with the next webhook. */
class SkippedError extends Error {}

const triedBefore = new Error("An earlier drain has tried this webhook, and others wait behind it.");

/** The failures of a spooled webhook. */
interface Failures {
  count: number;
  /** The number of webhooks that this process had recorded at the last counted failure. */
  recorded: number;
}

/**
 * Keeps verified webhooks on disk: in the store, or in the spool if the store cannot commit. A drain later
 * records spooled webhooks in the store. Recording a webhook twice is harmless.
 */
export class WebhookKeeper {
  readonly #parts: KeeperParts;
  /** The failures of each spooled webhook, by receiptId. */
  readonly #failures = new Map<string, Failures>();
  /** The number of webhooks that this process has recorded, without copies. */
  #recorded = 0;
  #skips = new Skips();
  /**
   * The webhooks that wait in the spool, by eventKey. Only some copies of each are spooled. Otherwise, an
   * attacker could fill the spool with copies of one captured webhook.
   */
  readonly #waiting = new Map<string, WaitingWebhook>();
  /** The reason why the last drain left webhooks. `undefined` if it left none. */
  leftBecause?: unknown;
  #isClosing = false;
  /** The present problem. An empty object means that there is none. */
  keeping: Keeping = {};
  /** The number of webhooks that this process has verified. */
  verified = 0;
  /** The last webhook, if it was refused. `payments.health` tries to keep it again. */
  #refused: Arrival | undefined;
  /** The number of webhooks that have no result yet. */
  pending = 0;
  readonly #closing: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<unknown> | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the webhook is on disk. Otherwise rejects with `record_unavailable`.
   *
   * @param isNew - Whether the webhook has just been verified. `false` for a second try.
   */
  keep(arrival: Arrival, isNew = true): Promise<Receipt> {
    this.pending += 1;
    if (isNew) this.verified += 1;
    // Not an async function, because this function runs for every webhook, and most need only the recorder.
    return this.#parts.recorder.record(arrival).then(
      (receipt) => {
        this.#noteRecorded(receipt);
        this.#end();
        return receipt;
      },
      (error: unknown) => this.#spoolOrReject(arrival, error).finally(() => this.#end()),
    );
  }

  /** If the last webhook was refused, tries to keep it again. Never rejects. */
  async retryRefused(): Promise<void> {
    const refused = this.#refused;
    this.#refused = undefined;
    if (refused) await this.keep(refused, false).catch(() => {});
  }

  /** Starts to record spooled webhooks, including webhooks that earlier processes left. */
  start(): void {
    if (!this.#parts.spool || this.#timer) return;
    this.#timer = setInterval(() => this.#drain(), this.#parts.drainMs).unref();
    this.#drain();
  }

  /** Resolves when every pending webhook has its result and the spool is closed, which has no limit. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    if (this.pending > 0) await new Promise<void>((resolve) => this.#closing.push(resolve));
    // Closing the spool stops a drain after its current webhook.
    await this.#parts.spool?.close();
    await this.#draining;
  }

  #noteRecorded(...receipts: readonly Receipt[]): void {
    for (const { receiptId, outcome } of receipts) {
      if (outcome !== "duplicate") this.#recorded += 1;
      this.#failures.delete(receiptId);
      this.#skips.noteRecorded(receiptId);
    }
    if (this.keeping.failingSince === undefined) return;
    this.keeping = {};
    this.#refused = undefined;
  }

  #noteFailed(refused?: { arrival: Arrival; cause: unknown }): void {
    const { failingSince = performance.now() } = this.keeping;
    this.#refused = refused?.arrival;
    const mayBeStore = hasOneOf([...unclearCodes, ...storeCodes], refused?.cause);
    this.keeping = { failingSince, ...(refused && { refused: mayBeStore ? "store" : "webhook" }) };
  }

  #end(): void {
    this.pending -= 1;
    if (this.pending === 0) for (const resolve of this.#closing.splice(0)) resolve();
  }

  async #spoolOrReject(arrival: Arrival, cause: unknown): Promise<Receipt> {
    const { spool, notify } = this.#parts;
    notify("store.unavailable", { during: "record", error: cause });
    const { receiptId, receivedAt, rawBody, covers, message } = arrival;
    if (!spool) {
      this.#noteFailed({ arrival, cause });
      const reason = "The store is not available, and there is no spool.";
      throw new WebhookRejectedError("record_unavailable", reason, { cause });
    }
    const { eventKey } = message;
    const { copies, appending } = this.#waiting.get(eventKey) ?? { copies: 0, appending: undefined };
    const isKept = copies >= maxCopies;
    const kept = isKept ? appending! : spool.append({ receiptId, receivedAt, rawBody, covers });
    if (!isKept && (copies > 0 || this.#waiting.size < maxWaiting))
      this.#waiting.set(eventKey, { copies: copies + 1, appending: kept });
    try {
      await kept;
    } catch (spoolError) {
      this.#waiting.delete(eventKey);
      this.#noteFailed({ arrival, cause });
      const reason = "Neither the store nor the spool could keep the webhook.";
      throw new WebhookRejectedError("record_unavailable", reason, { cause: spoolError });
    }
    this.#noteFailed();
    if (!isKept) notify("webhook.spooled", { receiptId, error: cause });
    const clientId = message.kind === "payment" ? { clientId: message.verified.clientId } : {};
    return { receiptId, outcome: "spooled", ...clientId };
  }

  #drain(): void {
    if (this.#draining) return;
    this.#skips.start();
    this.#draining = this.#parts.spool
      ?.drain((webhook) => this.#recordOne(webhook), {
        maxGroup: this.#parts.maxGroup,
        recordMany: (webhooks) => this.#recordMany(webhooks),
        isHopeless: (error) => error instanceof SetAsideError,
        isSkipped: (error) => error instanceof SkippedError,
      })
      .then(({ leftBecause }) => this.#noteDrained(leftBecause))
      .finally(() => (this.#draining = undefined));
  }

  /** Sends one notice when the spool stops working, instead of one for each drain. */
  #noteDrained(leftBecause: unknown): void {
    // A drain that `close` has stopped also leaves webhooks behind.
    if (this.#isClosing) return;
    if (leftBecause === undefined) {
      this.#waiting.clear();
      this.#failures.clear();
      this.#skips = new Skips();
    }
    if (hasOneOf(spoolCodes, leftBecause) && !hasOneOf(spoolCodes, this.leftBecause))
      this.#parts.notify("spool.unavailable", { error: leftBecause });
    this.leftBecause = leftBecause;
  }

  /** Records webhooks in one commit, so that no later one is stored before an earlier one. */
  async #recordMany(webhooks: readonly SpooledWebhook[]): Promise<void> {
    if (webhooks.some((webhook) => this.#skips.isSuspect(webhook))) throw skipped(triedBefore);
    this.#noteRecorded(...(await this.#parts.recorder.recordAll(webhooks.map(fromSpool))));
  }

  /** Records a single webhook, so that a failure belongs only to this webhook. */
  async #recordOne(webhook: SpooledWebhook, isSecondTry = false): Promise<void> {
    if (this.#skips.isPassed(webhook)) throw skipped(this.#skips.errorOf(webhook) ?? triedBefore);
    try {
      this.#noteRecorded(await this.#parts.recorder.record(fromSpool(webhook)));
    } catch (error) {
      if (hasOneOf(storeCodes, error) || (await this.#isProbeFailing())) throw error;
      // The store may have come back just before the probe. Without a second try, later webhooks would be
      // recorded before this one.
      const isUnclear = hasOneOf(unclearCodes, error) && !(error instanceof DeadlineError);
      if (!isSecondTry && isUnclear) return this.#recordOne(webhook, true);
      this.#countFailure(webhook, error);
    }
  }

  /** Counts a failure of a webhook. Always throws an error, which decides what the drain does next. */
  #countFailure({ receiptId }: SpooledWebhook, error: unknown): never {
    const failures = this.#failures.get(receiptId) ?? { count: 0, recorded: -1 };
    this.#failures.set(receiptId, failures);
    // `storeOver` throws `store_unavailable` or `adapter_defective` for every refusal of its database, also
    // of a single row. If the store has recorded another webhook since, the failure belongs to this webhook.
    const mayBeStore = hasOneOf(unclearCodes, error);
    // A lock on the payment ends at some time, so it is no failure of the webhook.
    const isLocked = error instanceof DeadlineError || hasCode(error, "store_busy");
    if (isLocked) failures.recorded = this.#recorded;
    if (!mayBeStore || failures.recorded < this.#recorded) {
      failures.count += 1;
      failures.recorded = this.#recorded;
    }
    if (isLocked && failures.count < maxFailures) this.#skips.addSlow(receiptId, error);
    else this.#skips.endSlow(receiptId);
    if (failures.count >= maxFailures) {
      // The count is kept for other drains of the same segment. The probe has shown that the store works.
      if (!this.keeping.refused) this.keeping = {};
      throw new SetAsideError(loggable(error).message, { cause: error });
    }
    if (!mayBeStore || this.#skips.add(receiptId)) throw error;
    throw skipped(error);
  }

  /** Resolves to whether the probe fails. A list of the drivers' error codes would never be complete. */
  #isProbeFailing(): Promise<boolean> {
    return this.#parts.probe().then(
      () => false,
      () => true,
    );
  }
}

function skipped(error: unknown): SkippedError {
  return new SkippedError(loggable(error).message, { cause: error });
}

function hasOneOf(codes: readonly ErrorCode[], error: unknown): boolean {
  return codes.some((code) => hasCode(error, code));
}
