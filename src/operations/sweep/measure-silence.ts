import { type NoticeMap } from "../../model/notice-map.js";

/** The payload of the notice `webhooks.silent`. */
export type Silence = NoticeMap["webhooks.silent"];

/** The minimum number of payments from which the usual time to a webhook is estimated. */
const minKnown = 30;
/** The minimum number of payments with a webhook, and of payments behind each step of the estimate. */
const minCases = 10;
/**
 * The kit reports a silence that is less probable than this: about one false report in a million webhooks.
 */
export const maxProbability = 1e-6;

/**
 * The time at which a customer was sent to pay, and the time of the payment's first webhook, in milliseconds.
 */
export interface SentTimes {
  sentAt: number;
  firstAt: number | undefined;
  /** The channel in the last report about the payment. */
  channel?: string | undefined;
}

/** Returns the times without the webhooks of other channels. */
export function timesOfChannel(times: readonly SentTimes[], channel: string): SentTimes[] {
  return times.map((one) => (one.channel === channel ? one : { sentAt: one.sentAt, firstAt: undefined }));
}

/**
 * Returns a function from a time to the share of payments that usually have no webhook after this time. The
 * function is the Kaplan-Meier estimate over the payments that were created before the last webhook. The
 * share is slightly too high, so that a few fast payments cause no false report. Returns `undefined` if the
 * payments are too few.
 */
export function usualSurvival(
  times: readonly SentTimes[],
  last: number,
): ((ms: number) => number) | undefined {
  const known = times
    .filter(({ sentAt }) => sentAt <= last)
    .map(({ sentAt, firstAt }) => ({
      ms: Math.max(0, (firstAt ?? last) - sentAt),
      has: firstAt !== undefined,
    }));
  if (known.length < minKnown || known.filter(({ has }) => has).length < minCases) return undefined;
  let share = 1;
  const steps = known
    .toSorted((a, b) => a.ms - b.ms)
    .flatMap(({ ms, has }, index) => {
      const atRisk = known.length - index;
      if (!has || atRisk < minCases) return [];
      share *= 1 - 1 / (atRisk + 1);
      return [{ ms, share }];
    });
  return (ms) => steps.findLast((step) => step.ms <= ms)?.share ?? 1;
}

/** Returns the silence since the last webhook, with the probability of no webhook in this time. */
export function measureSilence(
  times: readonly SentTimes[],
  { usual, last, now }: { usual: (ms: number) => number; last: number; now: number },
): Silence {
  let [log, expected, waiting] = [0, 0, 0];
  for (const { sentAt, firstAt } of times) {
    if (firstAt !== undefined) continue;
    const share = usual(now - sentAt) / (sentAt > last ? 1 : usual(last - sentAt));
    if (share === 1) continue;
    log += Math.log(share);
    expected += 1 - share;
    waiting += 1;
  }
  return { since: new Date(last).toISOString(), waiting, expected, probability: Math.exp(log) };
}
