import { TillkitError } from "../errors/index.js";
import { type Notify } from "../model/event-map.js";
import { withTimeout } from "../shared/with-timeout.js";
import { writeNothing } from "../store/write-nothing.js";
import { type Arrival, type Receipt } from "./recording/arrival.js";
import { Recorder } from "./recording/recorder.js";
import { type RecordingParts } from "./recording/recording-parts.js";
import { WebhookKeeper } from "./recording/webhook-keeper.js";
import { openSpool } from "./spool/index.js";

/** How webhooks are taken in. */
export interface IntakeOptions {
  /** How long a webhook may wait for its commit. */
  recordTimeoutMs: number;
  /** How often spooled webhooks are tried. */
  drainMs: number;
  spool: { directory: string; maxBytes: number } | undefined;
  /** Returns the store's identity; `undefined` for a store that has none. */
  identify?: (() => Promise<string>) | undefined;
  /** Called after each commit of webhooks. */
  onRecorded?: (receipts: readonly Receipt[]) => void;
}

/** Takes verified webhooks in. */
export type Intake = ReturnType<typeof createIntake>;

/** Makes the intake, which records verified webhooks in the store, or spools them while the store cannot take them. */
export function createIntake<Tx>(parts: RecordingParts<Tx> & { notify: Notify }, options: IntakeOptions) {
  const { store, now, notify, maxGroup } = parts;
  const { recordTimeoutMs, drainMs } = options;
  const listeners: ((clientId: string) => void)[] = [];
  let foreign = 0;
  let verified = 0;

  const onRecorded = (receipts: readonly Receipt[]): void => {
    options.onRecorded?.(receipts);
    for (const { outcome, clientId } of receipts) {
      if (outcome === "foreign") foreign += 1;
      if (outcome === "unconfirmed") for (const listener of listeners) listener(clientId!);
    }
  };
  const recorder = new Recorder(parts, recordTimeoutMs, onRecorded);
  const tooSlow = () => new TillkitError("store_unavailable", "The store did not answer in time.");
  const { identify } = options;
  const spool =
    options.spool &&
    openSpool({
      ...options.spool,
      // A drain waits for it, and `close` for the drain.
      identify: identify && (() => withTimeout(identify(), recordTimeoutMs, tooSlow)),
      now,
      onSetAside: ({ message: reason }, file) => notify("webhook.set_aside", { reason, file }),
    });
  const probe = () => withTimeout(writeNothing(store), recordTimeoutMs, tooSlow);
  const keeper = new WebhookKeeper({ recorder, spool, probe, notify, maxGroup, drainMs });

  return {
    /** Resolves when the webhook is on disk. Rejects with `record_unavailable` when it is not known to be. */
    keep: (arrival: Arrival) => ((verified += 1), keeper.keep(arrival)),
    /** Resolves after the store's commit. For answers to lookups, which are not spooled. */
    record: (arrival: Arrival) => recorder.recordArrival(arrival),
    /** Resolves when no recorded webhook is still being matched. */
    matched: () => recorder.matched(),
    /** Calls the listener with the clientId of each webhook that waits for a lookup. */
    onUnconfirmed: (listener: (clientId: string) => void) => void listeners.push(listener),
    /** Returns whether so many commits hang that new webhooks do not wait for the store. */
    isStuck: () => recorder.isStuck(),
    /** Returns the number of webhooks of other shops that this process has recorded. */
    foreign: () => foreign,
    /** Returns the number of webhooks that this process has verified. */
    verified: () => verified,
    /** Returns what became of the last webhooks. */
    keeping: () => keeper.keeping,
    retryRefused: () => keeper.retryRefused(),
    spool,
    start: () => keeper.start(),
    close: () => keeper.close(),
  };
}
