import { type EventType, type TillkitEvent } from "../model/event-map.js";
import { type SignedField } from "../model/signed-fields.js";

/** What a handler gets beside its event. */
export interface HandlerContext<Tx = unknown> {
  /**
   * The store's transaction. What is written through it commits together with the mark that this handler is done,
   * or not at all. It opens at the first use; without a use, nothing is held.
   */
  readonly tx: Tx;
  /** Aborted when the run may not commit any more: its time is over, its lease was lost, the kit is closing. */
  readonly signal: AbortSignal;
  /** The same in every run of this handler for this event: give it to services that are not in the transaction. */
  readonly idempotencyKey: string;
  /** Which run this is, from 1. Runs that a crash cut short are counted too. */
  readonly attempt: number;
}

/** Application code that is told of an event. It may run more than once; its writes through `tx` commit once. */
export type Handler<Type extends EventType, Covers extends SignedField, Tx> = (
  event: TillkitEvent<Type, Covers>,
  context: HandlerContext<Tx>,
) => unknown;

/** How a handler is known to the store. */
export interface HandlerOptions {
  /**
   * The durable name under which the store remembers what this handler has done. Keep it when the code moves; a new
   * name starts with the events recorded from then on. 1 to 64 characters of A-Z a-z 0-9 . _ : -
   *
   * @default the event's name
   */
  name?: string | undefined;
  /** How long one run of this handler may take. @default `dispatch.handlerTimeoutMs` */
  timeoutMs?: number | undefined;
}
