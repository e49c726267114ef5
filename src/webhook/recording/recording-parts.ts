import { type PaymentStore } from "../../store/index.js";

/** The merchant's settings that decisions depend on. */
export interface Policy {
  /** The prefix of this shop's clientIds. `undefined` if every webhook belongs to this shop. */
  clientIdPrefix: string | undefined;
  /** Whether a completion waits for a lookup if its signature covers only fields. */
  confirms: boolean;
}

/** The parts of the kit that are used to record webhooks, and in every operation on recorded webhooks. */
export interface RecordingParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  newId: () => string;
  policy: Policy;
  /** The maximum number of webhooks, or of payments, in one transaction. */
  maxGroup: number;
  /** Resolves when the store is open and has the handlers of this process. */
  ready: () => Promise<void>;
  /** Wakes the dispatcher. Must be called after a commit that saved events. */
  announceEvents: () => void;
}
