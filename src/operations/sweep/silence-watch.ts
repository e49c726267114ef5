import { type NoticeMap, type Notify } from "../../model/notice-map.js";
import { type Payment } from "../../model/payment.js";
import { type PaymentStore } from "../../store/index.js";

/** How long no webhook has come, and how much that means. */
export type Silence = NoticeMap["webhooks.silent"];

/** The number of payments that one look reads, the newest first. */
const maxRead = 500;
/** Fewer payments do not show what is usual. */
const minKnown = 30;
/** Fewer payments that are as old say nothing about this age. */
const minAtRisk = 10;
/** A silence of this probability is told: one in a million between two webhooks. */
const maxProbability = 1e-6;

/**
 * Makes the watch for webhooks that no longer come, although payments are sent out. Each look reads the newest payments by their index,
 * and sends `webhooks.silent`, and later `webhooks.recovered`.
 */
export function createSilenceWatch<Tx>({
  store,
  cautiousNow,
  notify,
}: {
  store: Pick<PaymentStore<Tx>, "list">;
  cautiousNow: () => Date;
  notify: Notify;
}) {
  let usual: ((ms: number) => number) | undefined;
  let last = 0;
  let silence: Silence | undefined;
  return {
    /** Compares the webhooks that came with those that should have. */
    async look(): Promise<void> {
      const now = cautiousNow().getTime();
      const times = timesOf(await store.list({ newestFirst: true, limit: maxRead }));
      // A clock that was put back since wrote what is later than now.
      const came = times.flatMap(({ firstAt = Infinity }) => (firstAt <= now ? [firstAt] : []));
      last = Math.max(last, ...came);
      usual = usualSurvival(times, last) ?? usual;
      if (!usual) return;
      if (silence && last > Date.parse(silence.since)) {
        notify("webhooks.recovered", { since: silence.since, silentMs: last - Date.parse(silence.since) });
        silence = undefined;
      }
      const found = measureSilence(times, { usual, last, now });
      if (silence === undefined && found.probability < maxProbability)
        notify("webhooks.silent", (silence = found));
    },
    /** Returns what a person must know; `undefined` while webhooks come as usual. */
    problem: () =>
      silence &&
      `No webhook has come since ${silence.since}, although about ${Math.round(silence.expected)} of ${silence.waiting} payments should have a webhook. Check the webhook address at the service.`,
  };
}

/** When a payment was sent out, and when its first webhook came, in milliseconds. */
export interface SentTimes {
  sentAt: number;
  firstAt: number | undefined;
}

function timesOf(payments: readonly Payment[]): SentTimes[] {
  return payments.flatMap(({ checkoutUrl, createdAt, firstWebhookAt }) => {
    if (checkoutUrl === undefined) return [];
    const sentAt = Date.parse(createdAt);
    const firstAt = firstWebhookAt === undefined ? undefined : Date.parse(firstWebhookAt);
    return [{ sentAt, firstAt }];
  });
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
    }))
    .toSorted((a, b) => a.ms - b.ms);
  if (known.length < minKnown) return undefined;
  let share = 1;
  const steps = known.flatMap(({ ms, has }, index) => {
    const atRisk = known.length - index;
    if (!has || atRisk < minAtRisk) return [];
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
