import { type NoticeMap, type NoticeType } from "../model/event-map.js";

/** A listener of this process. What it throws is swallowed: a notice is never worth a payment. */
export type NoticeListener<Type extends NoticeType> = (notice: NoticeMap[Type]) => unknown;

/** Tells listeners of this process what the process noticed. */
export class Notices {
  readonly #listeners = new Map<NoticeType, Set<(notice: never) => unknown>>();

  add = <Type extends NoticeType>(type: Type, listener: NoticeListener<Type>): (() => void) => {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  notify = <Type extends NoticeType>(type: Type, notice: NoticeMap[Type]): void => {
    for (const listener of this.#listeners.get(type) ?? []) void tell(listener, notice);
  };
}

/** A broken alarm must not stop what it watches, nor end the process by a rejection that nobody handles. */
async function tell(listener: (notice: never) => unknown, notice: unknown): Promise<void> {
  try {
    await listener(notice as never);
  } catch {
    // Nothing about money depends on a notice.
  }
}
