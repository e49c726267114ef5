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

/**
 * Sends 40 webhooks each second to these kits in turn, each for another order, whatever becomes of those before. So the load does
 * not depend on the speed of the kits.
 */
export function startLoad(kits: readonly { post: Post; sent: Sent[] }[], maxOrders: number) {
  const pending = new Set<Promise<void>>();
  const started = performance.now();
  let next = 0;
  const send = (): void => {
    const due = Math.min(maxOrders, Math.floor((performance.now() - started) / everyMs));
    for (; next < due; next++) {
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
    }
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
