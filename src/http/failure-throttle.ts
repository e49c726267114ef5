/** How many failed webhooks of one address are answered as what they are. */
export interface FailureBudget {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  /** When the tokens were counted, in milliseconds. */
  at: number;
}

/** Addresses remembered at most. One that is forgotten starts with a full budget: it is told 401 again, no more. */
const mostAddresses = 10_000;

/**
 * A token bucket per client address, for failures only. The answer to a call is `undefined` while the address has
 * budget, and then the whole seconds until it has some again, 60 at most. Nothing is refused here: whoever asks has
 * verified and refused already, and only chooses what to say.
 */
export function failureThrottle(
  { perMinute, burst }: FailureBudget,
  nowMs: () => number = () => performance.now(),
): (address: string) => number | undefined {
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / 60_000;

  return function spend(address) {
    const at = nowMs();
    const { tokens, at: before } = buckets.get(address) ?? { tokens: burst, at };
    const refilled = Math.min(burst, tokens + (at - before) * perMs);
    const isPaid = refilled >= 1;
    // Set anew, so that the map stays in the order of the last failure and the first is the one to forget.
    buckets.delete(address);
    buckets.set(address, { tokens: isPaid ? refilled - 1 : refilled, at });
    if (buckets.size > mostAddresses) buckets.delete(buckets.keys().next().value!);
    return isPaid ? undefined : Math.ceil((1 - refilled) / perMs / 1000);
  };
}
