import { type Notify } from "../model/notice-map.js";
import { storeInTime } from "../shared/with-timeout.js";
import { writeNothing } from "./recording/write-nothing.js";
import { type Arrival, type Receipt } from "./recording/arrival.js";
import { Recorder } from "./recording/recorder.js";
import { type RecordingParts } from "./recording/recording-parts.js";
import { WebhookKeeper } from "./recording/webhook-keeper.js";
import { openSpool } from "./spool/spool.js";

/** Options of {@link createIntake}. */
export interface IntakeOptions {
  /** The maximum time until a webhook is committed. */
  recordTimeoutMs: number;
  /** The interval at which the kit tries to record spooled webhooks. */
  drainMs: number;
  spool: { directory: string; maxBytes: number } | undefined;
  /** Returns the identity of the store. `undefined` for a store that is not durable. */
  identify?: (() => Promise<string>) | undefined;
  /** Called after each commit of webhooks. */
  onRecorded?: (receipts: readonly Receipt[]) => void;
}

/** The parts that record verified webhooks. */
export type Intake = ReturnType<typeof createIntake>;

/** Returns the recorder of webhooks, and the keeper, which also spools webhooks when the store fails. */
export function createIntake<Tx>(parts: RecordingParts<Tx> & { notify: Notify }, options: IntakeOptions) {
  const { store, now, notify, maxGroup } = parts;
  const { recordTimeoutMs, drainMs, identify } = options;
  const listeners: ((clientId: string) => void)[] = [];
  let foreign = 0;

  const onRecorded = (receipts: readonly Receipt[]): void => {
    options.onRecorded?.(receipts);
    for (const { outcome } of receipts) if (outcome === "foreign") foreign += 1;
  };
  const recorder = new Recorder(parts, recordTimeoutMs, onRecorded);
  const reportUnconfirmed = (receipts: readonly Receipt[]): void => {
    for (const { outcome, clientId } of receipts)
      if (outcome === "unconfirmed") for (const listener of listeners) listener(clientId!);
  };
  // A person's replay uses `recorder`, and leaves the lookup to the application's next sweep, because the
  // command line has no service to ask.
  const arriving = {
    record: async (arrival: Arrival) => {
      const receipt = await recorder.record(arrival);
      reportUnconfirmed([receipt]);
      return receipt;
    },
    recordAll: async (arrivals: readonly Arrival[]) => {
      const receipts = await recorder.recordAll(arrivals);
      reportUnconfirmed(receipts);
      return receipts;
    },
  };
  const spool =
    options.spool &&
    openSpool({
      ...options.spool,
      identify,
      now,
      onSetAside: ({ message: reason }, file) => notify("webhook.set_aside", { reason, file }),
    });
  const probe = () => storeInTime(writeNothing(store), recordTimeoutMs, { unref: false });
  const keeper = new WebhookKeeper({ recorder: arriving, spool, probe, notify, maxGroup, drainMs });

  return {
    /** Records in the store only. Lookups use the recorder, because their answers are never spooled. */
    recorder,
    /** Records in the store, or else in the spool. */
    keeper,
    spool,
    /** Calls the listener with the clientId of each webhook that arrived and waits for a lookup. */
    onUnconfirmed: (listener: (clientId: string) => void) => void listeners.push(listener),
    /** Returns the number of webhooks of other shops that this process has recorded. */
    foreign: () => foreign,
  };
}
