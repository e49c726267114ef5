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

/** The time for which the health has the silence of a channel, because the shop may have given it up. */
const maxToldMs = 7 * 24 * 60 * 60 * 1000;

/** The state of the watch for one channel, or for all webhooks. */
interface Watched {
  /** The time of the last webhook, or the time at which a later silence of all channels ended. */
  last: number;
  usual: ((ms: number) => number) | undefined;
  silence: Silence | undefined;
  /** The time of the notice about the silence, by `performance.now()`. */
  toldAt: number;
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
  const nothing: Watched = { last: 0, usual: undefined, silence: undefined, toldAt: -Infinity };
  const all = { ...nothing };
  const channels = new Map<string, Watched>();
  const pastTimes = createPastTimes();

  function compare(
    watched: Watched,
    times: readonly SentTimes[],
    { now, isPast }: ReturnType<typeof pastTimes>,
    channel?: string,
  ): void {
    const newest = Math.max(0, ...times.map(({ firstAt = 0 }) => (isPast(firstAt) ? firstAt : 0)));
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
    if (found.probability >= maxProbability) return;
    watched.toldAt = performance.now();
    notify("webhooks.silent", (watched.silence = found));
  }

  const isTold = ({ silence, toldAt }: Watched) => silence && performance.now() - toldAt < maxToldMs;

  return {
    /** Compares the webhooks that came with the webhooks that should have come. */
    async look(): Promise<void> {
      const times = timesOf(await store.list({ newestFirst: true, limit: maxRead }));
      const past = pastTimes(times, cautiousNow().getTime());
      compare(all, times, past);
      if (all.silence) return;
      for (const { channel } of times)
        if (channel !== undefined && !channels.has(channel)) channels.set(channel, { ...nothing });
      for (const [channel, watched] of channels) {
        const ofChannel = timesOfChannel(times, channel);
        compare(watched, ofChannel, past, channel);
        if (!isTold(watched) && ofChannel.every(({ firstAt }) => firstAt === undefined))
          channels.delete(channel);
      }
    },
    /** Returns a message for people about a silence; `undefined` while webhooks come as usual. */
    problem: () => {
      if (all.silence) return describe(all.silence);
      const found = [...channels.values()].filter(isTold).map(({ silence }) => describe(silence!));
      return found.length === 0 ? undefined : found.join(" ");
    },
  };
}

/**
 * Returns a function that says which times are past. If a clock was put back, the times that were ahead of it
 * then do not count, also when the clock reaches them.
 */
function createPastTimes() {
  let lookedAt = -Infinity;
  let ahead = new Set<number>();
  return (times: readonly SentTimes[], now: number) => {
    const isPutBack = now < lookedAt;
    const read = times.flatMap(({ firstAt }) => firstAt ?? []);
    ahead = new Set(read.filter((time) => ahead.has(time) || (isPutBack && time > now)));
    lookedAt = now;
    return { now, isPast: (time: number) => time <= now && !ahead.has(time) };
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
    : `No webhook of the channel "${channel}" has come since ${since}, ${missing}. Other webhooks come. Ask the service about this channel. This message ends after a week.`;
}
