import { TillkitError } from "../errors/index.js";
import { type EventType, type TillkitEvent } from "../model/event-map.js";
import { type HandlerKey } from "../store/index.js";
import { describeUnknown, type NamesOf } from "../shared/unknown-names.js";
import { isWholeNumber, maxTimerMs } from "../shared/whole-number.js";
import { type HandlerContext, type HandlerOptions } from "./handler.js";

/** A handler without the types of its event, which the public interface has already checked. */
export type AnyHandler<Tx> = (event: TillkitEvent, context: HandlerContext<Tx>) => unknown;

/** A registered handler. */
export interface Registered<Tx> {
  key: HandlerKey;
  run: AnyHandler<Tx>;
  timeoutMs: number | undefined;
  /** Whether several runs of this handler may share a transaction. */
  isShared: boolean;
}

const namePattern = /^[A-Za-z0-9._:-]{1,64}$/;

/** The handlers that this process registered, by event and durable name. */
export class Handlers<Tx> {
  readonly #handlers: Registered<Tx>[] = [];

  /** Registers a handler. Throws `option_invalid`, or `handler_name_taken` if the name is in use. */
  add(event: EventType | "*", run: AnyHandler<Tx>, options: HandlerOptions = {}): void {
    const { name = event === "*" ? "any" : event, timeoutMs, transaction } = options;
    const names = { name, timeoutMs, transaction };
    const unknown = describeUnknown(options, names satisfies NamesOf<HandlerOptions>);
    if (unknown !== undefined) throw new TillkitError("option_invalid", `A handler's option: ${unknown}`);
    if (timeoutMs !== undefined && !isWholeNumber(timeoutMs, 1, maxTimerMs)) {
      throw new TillkitError(
        "option_invalid",
        `A handler's timeoutMs must be a whole number from 1 to ${maxTimerMs}.`,
      );
    }
    if (transaction !== undefined && transaction !== "shared")
      throw new TillkitError("option_invalid", 'A handler\'s transaction must be "shared", or left out.');
    if (!namePattern.test(name)) {
      throw new TillkitError("option_invalid", `The handler name ${JSON.stringify(name)} is not usable.`, {
        fix: "Use 1 to 64 characters of A-Z a-z 0-9 . _ : - as the handler's name.",
      });
    }
    if (this.find(event, name) ?? this.#clashWithAny(event, name)) {
      throw new TillkitError(
        "handler_name_taken",
        `A handler named "${name}" is registered for ${event} already.`,
      );
    }
    this.#handlers.push({ key: { event, name }, run, timeoutMs, isShared: transaction === "shared" });
  }

  keys(): HandlerKey[] {
    return this.#handlers.map(({ key }) => key);
  }

  /** Returns whether a handler has this name, and handles this event if one is given. */
  has(name: string, event?: EventType): boolean {
    return this.#handlers.some(
      ({ key }) => key.name === name && (!event || key.event === "*" || key.event === event),
    );
  }

  /** Returns the keys of the handlers whose runs may share a transaction, by handler name. */
  sharedKeys(): Map<string, HandlerKey[]> {
    const found = new Map<string, HandlerKey[]>();
    for (const { key, isShared } of this.#handlers)
      if (isShared) found.set(key.name, [...(found.get(key.name) ?? []), key]);
    return found;
  }

  /** Returns the handler for the dispatches of this event under this name. */
  find(event: EventType | "*", name: string): Registered<Tx> | undefined {
    return this.#handlers.find(({ key }) => key.name === name && (key.event === event || key.event === "*"));
  }

  get size(): number {
    return this.#handlers.length;
  }

  /** Returns a handler of any event with this name, if the new handler is for all events (`"*"`). */
  #clashWithAny(event: EventType | "*", name: string): Registered<Tx> | undefined {
    return event === "*" ? this.#handlers.find(({ key }) => key.name === name) : undefined;
  }
}
