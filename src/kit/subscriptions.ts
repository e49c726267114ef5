import { type Dispatcher } from "../dispatch/dispatcher.js";
import { type HandlerOptions } from "../dispatch/handler.js";
import { type AnyHandler } from "../dispatch/handlers.js";
import { eventTypes, type EventType, type NoticeType } from "../model/event-map.js";
import { type SignedField } from "../model/signed-fields.js";
import { type Core } from "./core.js";
import { type Payments } from "./payments.js";

/** Returns the methods that add handlers of events and listeners of notices. */
export function createSubscriptions<Covers extends SignedField, Tx>(
  { handlers, listen }: Core<Tx>,
  dispatcher: Dispatcher<Tx>,
): Pick<Payments<Covers, Tx>, "on" | "onAny" | "onPaymentCompleted"> {
  const subscribe = (event: EventType | "*", handler: unknown, options: HandlerOptions | undefined): void => {
    handlers.add(event, handler as AnyHandler<Tx>, options);
    dispatcher.wake();
  };
  const on = (type: EventType | NoticeType, handler: unknown, options?: HandlerOptions): void => {
    if (isEventType(type)) subscribe(type, handler, options);
    else listen(type, handler as () => void);
  };
  return {
    on,
    onAny: (handler, options) => subscribe("*", handler, options),
    onPaymentCompleted: (handler, options) => on("payment.completed", handler, options),
  };
}

function isEventType(type: EventType | NoticeType): type is EventType {
  return (eventTypes as readonly string[]).includes(type);
}
