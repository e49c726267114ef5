import { type NoticeMap } from "../../model/notice-map.js";

/** How long no webhook has come, and how much that means. */
export type Silence = NoticeMap["webhooks.silent"];

/** Fewer payments do not show what is usual. */
const minKnown = 30;
/** Fewer webhooks, or fewer payments that are as old, do not show how long it takes. */
const minCases = 10;
/** A silence of this probability is told: one in a million between two webhooks. */
export const maxProbability = 1e-6;

/** When a payment was sent out, and when its first webhook came, in milliseconds. */
export interface SentTimes {
  sentAt: number;
  firstAt: number | undefined;
  /** The channel that the last report named. */
  channel?: string | undefined;
}

/** Returns the times as they are where only the webhooks of one channel count. */
export function timesOfChannel(times: readonly SentTimes[], channel: string): SentTimes[] {
  return times.map((one) => (one.channel === channel ? one : { sentAt: one.sentAt, firstAt: undefined }));
}

/**
 * Returns the share of payments that usually still have no webhook after a time: the Kaplan-Meier estimate of those that were sent out
 * before the last webhook. `undefined` where these are too few. It is a little too high, so that a few lucky payments make no alarm.
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

/** Returns how probable it is that none of the payments without a webhook has got one since the last. */
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
