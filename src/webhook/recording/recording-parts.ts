import { type PaymentStore } from "../../store/index.js";

/** The merchant's settings that decisions depend on. */
export interface Policy {
  /** The prefix of this shop's clientIds; `undefined` if every webhook is this shop's. */
  clientIdPrefix: string | undefined;
  /** Whether a completion of which only fields are signed waits for a lookup. */
  confirms: boolean;
}

/** The parts of the kit that recording, and every operation on recorded webhooks, uses. */
export interface RecordingParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  newId: () => string;
  policy: Policy;
  /** The number of webhooks, or of payments, in one transaction at most. */
  maxGroup: number;
  /** Resolves when the store is open and knows the handlers of this process. */
  ready: () => Promise<void>;
  /** Must be called after a commit that saved events: wakes the dispatcher. */
  announceEvents: () => void;
}
