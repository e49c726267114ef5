import { completionOf } from "../faults/shop.js";

/** One webhook that was sent. The times are those of `performance.now()`. */
export interface Sent {
  n: number;
  from: number;
  to: number;
  /** Absent where there was no answer. */
  status?: number;
}

/** Sends one webhook. */
export type Post = (body: ReturnType<typeof completionOf>) => Promise<number>;

const everyMs = 25;
/** So many webhooks wait for their answers at most: a machine that is slower gets fewer, and no queue that only grows. */
const maxPending = 40;

/**
 * Sends at most 40 webhooks each second to these kits in turn, each for another order, whatever becomes of those before.
 */
export function startLoad(kits: readonly { post: Post; sent: Sent[] }[], maxOrders: number) {
  const pending = new Set<Promise<void>>();
  let next = 0;
  const send = (): void => {
    if (next === maxOrders || pending.size === maxPending) return;
    const { post, sent } = kits[next % kits.length]!;
    const one: Sent = { n: next, from: performance.now(), to: Infinity };
    const sending = post(completionOf(next))
      .then((status) => void (one.status = status))
      .catch(() => undefined)
      .finally(() => {
        one.to = performance.now();
        sent.push(one);
        pending.delete(sending);
      });
    pending.add(sending);
    next += 1;
  };
  const timer = setInterval(send, everyMs);
  return {
    /** Resolves when every webhook has its answer. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(pending);
    },
  };
}
