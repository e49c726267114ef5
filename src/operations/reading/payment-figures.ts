import { type Payment } from "../../model/payment.js";
import { type NamesOf } from "../../shared/unknown-names.js";
import { type PaymentStore } from "../../store/index.js";
import { queryError, queryTimes, refuseUnknown } from "./query.js";

/** The period of the figures. The figures are about the payments that were created in this period. */
export interface FiguresQuery {
  /** The beginning of the period, which is included. */
  from: Date;
  /** The end of the period, which is not included. */
  to: Date;
}

/** A usual duration, in milliseconds. */
export interface UsualTime {
  /** Half of the payments took this time at most. */
  median: number;
  /** 95 of 100 payments took this time at most. */
  p95: number;
}

/** The figures of the payments of one channel, or of all. */
export interface ChannelFigures {
  /**
   * The provider's channel, as the service reported it. Empty if the service reported no channel. `*` for all
   * channels, and for the channels after the first 100.
   */
  channel: string;
  /** The number of payments that the service has: with a checkout address, or with a service id. */
  sent: number;
  /** The number of sent payments that are completed. */
  completed: number;
  /** `completed` divided by `sent`; 0 if `sent` is 0. */
  share: number;
  /** The time from the creation to the first webhook. Absent if no webhook arrived. */
  firstWebhookMs?: UsualTime;
  /** The time from the creation to the completion. Absent if no payment is completed. */
  paidMs?: UsualTime;
}

/** The figures of payments. */
export interface Figures {
  /** The figures of all payments that were read. */
  all: ChannelFigures;
  /** The figures of each channel, the channel with the most payments first. */
  channels: ChannelFigures[];
  /** Whether the period has more payments than the newest 20,000, which were read. */
  more: boolean;
}

const maxRead = 20_000;
const pageSize = 500;
const maxChannels = 100;
const names = { from: 1, to: 1 } satisfies NamesOf<FiguresQuery>;

/** The counts and times of some payments. */
interface Samples {
  sent: number;
  completed: number;
  firstWebhook: number[];
  paid: number[];
}

/** Returns the figures of the payments that were created in a period. Reads the newest payments first. */
export async function paymentFigures<Tx>(store: PaymentStore<Tx>, query: FiguresQuery): Promise<Figures> {
  refuseUnknown(query, names);
  const { from, to } = queryTimes(query);
  if (from === undefined || to === undefined) throw queryError("from and to must be two Dates.");
  const all = noSamples();
  const channels = new Map<string, Samples>();
  const pageAfter = (last: Payment | undefined, limit: number): Promise<Payment[]> => {
    const after = last && { createdAt: last.createdAt, clientId: last.clientId };
    return store.list({ from, to, newestFirst: true, limit, ...(after && { after }) });
  };
  let page = await pageAfter(undefined, pageSize);
  for (let read = page.length; ; read += page.length) {
    for (const payment of page)
      for (const samples of [all, samplesOf(channels, payment.reported?.source ?? "")])
        addPayment(samples, payment);
    if (page.length < pageSize || read >= maxRead) break;
    page = await pageAfter(page.at(-1), pageSize);
  }
  const more = page.length === pageSize && (await pageAfter(page.at(-1), 1)).length > 0;
  const sorted = [...channels].toSorted(([, a], [, b]) => b.sent - a.sent);
  return {
    all: figuresOf("*", all),
    channels: sorted.map(([channel, samples]) => figuresOf(channel, samples)),
    more,
  };
}

function noSamples(): Samples {
  return { sent: 0, completed: 0, firstWebhook: [], paid: [] };
}

/** Returns the samples of a channel. A source can be any text, so the number of channels is limited. */
function samplesOf(channels: Map<string, Samples>, source: string): Samples {
  const channel = channels.has(source) || channels.size < maxChannels ? source : "*";
  const known = channels.get(channel) ?? noSamples();
  channels.set(channel, known);
  return known;
}

function addPayment(samples: Samples, payment: Payment): void {
  const { checkoutUrl, serviceId, state, createdAt, completedAt, firstWebhookAt } = payment;
  if (checkoutUrl === undefined && serviceId === undefined) return;
  const since = (time: string): number => Math.max(0, Date.parse(time) - Date.parse(createdAt));
  samples.sent += 1;
  if (state === "completed") samples.completed += 1;
  if (firstWebhookAt !== undefined) samples.firstWebhook.push(since(firstWebhookAt));
  if (completedAt !== undefined) samples.paid.push(since(completedAt));
}

function figuresOf(channel: string, { sent, completed, firstWebhook, paid }: Samples): ChannelFigures {
  const [firstWebhookMs, paidMs] = [usual(firstWebhook), usual(paid)];
  const share = sent === 0 ? 0 : completed / sent;
  return {
    channel,
    sent,
    completed,
    share,
    ...(firstWebhookMs && { firstWebhookMs }),
    ...(paidMs && { paidMs }),
  };
}

function usual(times: readonly number[]): UsualTime | undefined {
  if (times.length === 0) return undefined;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!;
  return { median: at(0.5), p95: at(0.95) };
}
