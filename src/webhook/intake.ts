import { type NoticeMap, type NoticeType } from "../model/event-map.js";
import { type Arrival, type Receipt } from "./recording/plan-group.js";
import { Recorder } from "./recording/recorder.js";
import { type RecordingParts } from "./recording/rematch.js";
import { WebhookKeeper } from "./recording/webhook-keeper.js";
import { openSpool, type Spool } from "./spool/index.js";

/** The parts of the kit that the intake uses. */
export interface IntakeParts<Tx> extends RecordingParts<Tx> {
  notify: <Type extends NoticeType>(type: Type, notice: NoticeMap[Type]) => void;
}

/** How webhooks are taken in. */
export interface IntakeOptions {
  /** How long a webhook may wait for its commit. */
  recordTimeoutMs: number;
  /** How often spooled webhooks are tried. */
  drainMs: number;
  spool: { directory: string; maxBytes: number } | undefined;
}

/** Takes verified webhooks in: records them in the store, or spools them. */
export interface Intake {
  /** Resolves when the webhook is on disk. Rejects with `record_unavailable` when it is not known to be. */
  keep: (arrival: Arrival) => Promise<Receipt>;
  /** Resolves after the store's commit. For answers to lookups, which are not spooled. */
  record: (arrival: Arrival) => Promise<Receipt>;
  /** Resolves when no recorded webhook is still being matched. */
  matched: () => Promise<void>;
  /** Calls the listener with the clientId of each webhook that waits for a lookup. */
  onUnconfirmed: (listener: (clientId: string) => void) => void;
  /** Returns whether so many commits hang that new webhooks do not wait for the store. */
  isStuck: () => boolean;
  /** Returns the number of webhooks of other shops that this process has recorded. */
  foreignCount: () => number;
  readonly spool: Spool | undefined;
  start: () => void;
  close: () => Promise<void>;
}

/** Makes the intake of the recorder and the spool. */
export function createIntake<Tx>(parts: IntakeParts<Tx>, options: IntakeOptions): Intake {
  const { store, now, notify } = parts;
  const { recordTimeoutMs, drainMs } = options;
  const listeners: ((clientId: string) => void)[] = [];
  let foreign = 0;

  const onRecorded = (receipts: readonly Receipt[]): void => {
    for (const { outcome, clientId } of receipts) {
      if (outcome === "foreign") foreign += 1;
      if (outcome === "unconfirmed") for (const listener of listeners) listener(clientId!);
    }
  };
  const recorder = new Recorder(parts, { deadlineMs: recordTimeoutMs, onRecorded });
  const spool =
    options.spool &&
    openSpool({
      ...options.spool,
      now,
      onSetAside: ({ message: reason }, file) => notify("webhook.set_aside", { reason, file }),
    });
  const probe = () => store.transaction(() => Promise.resolve());
  const keeper = new WebhookKeeper({ recorder, spool, probe, notify, drainMs });

  return {
    keep: (arrival) => keeper.keep(arrival),
    record: (arrival) => recorder.recordArrival(arrival),
    matched: () => recorder.matched(),
    onUnconfirmed: (listener) => void listeners.push(listener),
    isStuck: () => recorder.isStuck(),
    foreignCount: () => foreign,
    spool,
    start: () => keeper.start(),
    close: () => keeper.close(),
  };
}
