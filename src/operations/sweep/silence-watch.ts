import { type Notify } from "../../model/notice-map.js";
import { type Payment } from "../../model/payment.js";
import { type PaymentStore } from "../../store/index.js";
import {
  maxProbability,
  measureSilence,
  type SentTimes,
  type Silence,
  timesOfChannel,
  usualSurvival,
} from "./measure-silence.js";

/** The number of newest payments that one call of `look` reads. */
const maxRead = 500;

/** The state of the watch for one channel, or for all webhooks. */
interface Watched {
  /** The time of the last webhook, or the time at which a later silence of all channels ended. */
  last: number;
  usual: ((ms: number) => number) | undefined;
  silence: Silence | undefined;
}

/**
 * Makes the watch that notices when webhooks stop although customers are sent to pay. Each call of `look`
 * reads the newest payments. The watch sends `webhooks.silent` and later `webhooks.recovered`: for all
 * webhooks, or for one channel while the webhooks of other channels arrive.
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
  const all: Watched = { last: 0, usual: undefined, silence: undefined };
  const channels = new Map<string, Watched>();

  function compare(watched: Watched, times: readonly SentTimes[], channel?: string): void {
    const now = cautiousNow().getTime();
    // Times after now were written before the clock was put back, so they do not count.
    const newest = Math.max(0, ...times.map(({ firstAt = 0 }) => (firstAt <= now ? firstAt : 0)));
    if (newest > watched.last) {
      watched.last = newest;
      watched.usual = usualSurvival(times, newest) ?? watched.usual;
    }
    // If the clock was put back since, no webhook would be newer, so the silence is measured from now on.
    if (watched.last > now) {
      watched.last = now;
      if (watched.silence) watched.silence = { ...watched.silence, since: new Date(now).toISOString() };
    }
    const { last, usual, silence } = watched;
    const named = channel !== undefined && { channel };
    if (silence && newest > Date.parse(silence.since)) {
      watched.silence = undefined;
      notify("webhooks.recovered", {
        ...named,
        since: silence.since,
        silentMs: newest - Date.parse(silence.since),
      });
      // After a silence of all webhooks, the silence of each channel is measured from this time.
      if (watched === all) for (const one of channels.values()) one.last = Math.max(one.last, newest);
    }
    if (!usual || watched.silence) return;
    const found = { ...named, ...measureSilence(times, { usual, last, now }) };
    if (found.probability < maxProbability) notify("webhooks.silent", (watched.silence = found));
  }

  return {
    /** Compares the webhooks that came with the webhooks that should have come. */
    async look(): Promise<void> {
      const times = timesOf(await store.list({ newestFirst: true, limit: maxRead }));
      compare(all, times);
      if (all.silence) return;
      for (const { channel } of times)
        if (channel !== undefined && !channels.has(channel))
          channels.set(channel, { last: 0, usual: undefined, silence: undefined });
      for (const [channel, watched] of channels) {
        const ofChannel = timesOfChannel(times, channel);
        compare(watched, ofChannel, channel);
        if (!watched.silence && ofChannel.every(({ firstAt }) => firstAt === undefined))
          channels.delete(channel);
      }
    },
    /** Returns a message for people about a silence; `undefined` while webhooks come as usual. */
    problem: () => {
      if (all.silence) return describe(all.silence);
      const found = [...channels.values()].flatMap(({ silence }) => (silence ? [describe(silence)] : []));
      return found.length === 0 ? undefined : found.join(" ");
    },
  };
}

function timesOf(payments: readonly Payment[]): SentTimes[] {
  return payments.flatMap(({ checkoutUrl, createdAt, firstWebhookAt, reported }) => {
    if (checkoutUrl === undefined) return [];
    const sentAt = Date.parse(createdAt);
    const firstAt = firstWebhookAt === undefined ? undefined : Date.parse(firstWebhookAt);
    return [{ sentAt, firstAt, channel: reported?.source }];
  });
}

function describe({ channel, since, waiting, expected }: Silence): string {
  const missing = `although about ${Math.round(expected)} of ${waiting} payments should have one`;
  return channel === undefined
    ? `No webhook has come since ${since}, ${missing}. Check the webhook address at the service.`
    : `No webhook of the channel "${channel}" has come since ${since}, ${missing}. Other webhooks come. Ask the service about this channel.`;
}
