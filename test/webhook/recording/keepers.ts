import { type NoticeMap } from "tillkit";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { type Arrival, type Receipt } from "../../../src/webhook/recording/arrival.js";
import { type KeeperParts, WebhookKeeper } from "../../../src/webhook/recording/webhook-keeper.js";
import { type DrainResult } from "../../../src/webhook/spool/drain-spool.js";
import { type Spool } from "../../../src/webhook/spool/spool.js";
import { type SpooledWebhook } from "../../../src/webhook/spool/record-line.js";
import { completedBody } from "../../support/webhooks.js";

type Drain = Parameters<Spool["drain"]>;

/** What a test gives a keeper, and may change meanwhile. */
export interface Surroundings {
  /** What the store does with one webhook. */
  record: (arrival: Arrival) => Promise<Receipt>;
  /** What the spool does with one webhook; `undefined` for no spool. */
  append: ((webhook: SpooledWebhook) => Promise<void>) | undefined;
  /** What the store does besides. */
  probe: () => Promise<unknown>;
}

/** Records every webhook as applied. */
export const recorded = ({ receiptId }: Arrival): Promise<Receipt> =>
  Promise.resolve({ receiptId, outcome: "applied" });

/** Makes a keeper whose store and spool do what the test says. The spool is drained when the test calls `recordSpooled`. */
export function keeperOf(given: Partial<Surroundings> = {}) {
  const surroundings: Surroundings = {
    record: recorded,
    append: undefined,
    probe: () => Promise.resolve(),
    ...given,
  };
  const notices: { [Type in keyof NoticeMap]?: unknown }[] = [];
  const drains: Drain[] = [];
  const running: ((leftBecause?: unknown) => void)[] = [];
  let closed = 0;
  const spool = {
    append: (webhook: SpooledWebhook) => surroundings.append!(webhook),
    drain: (...drain: Drain) => {
      drains.push(drain);
      return new Promise<DrainResult>((resolve) =>
        running.push((leftBecause) => resolve({ drained: 0, setAside: 0, leftBecause })),
      );
    },
    close: () => ((closed += 1), Promise.resolve()),
  };
  const parts: KeeperParts = {
    recorder: {
      record: (arrival) => surroundings.record(arrival),
      recordAll: (arrivals) => Promise.all(arrivals.map((arrival) => surroundings.record(arrival))),
    },
    spool: given.append && (spool as unknown as Spool),
    probe: () => surroundings.probe(),
    notify: (type, notice) => void notices.push({ [type]: notice }),
    maxGroup: 7,
    drainMs: 1000,
  };
  const keeper = new WebhookKeeper(parts);
  const options = () => drains.at(-1)![1]!;
  return {
    keeper,
    surroundings,
    notices,
    drains,
    /** Ends the drain that runs, with the error that left webhooks. */
    endDrain: (leftBecause?: unknown) => running.shift()!(leftBecause),
    isSpoolClosed: () => closed === 1,
    /** Records one webhook from the spool. Resolves with its error, and what the drain does because of it. */
    recordSpooled: async (webhook: SpooledWebhook) => {
      if (drains.length === 0) keeper.start();
      try {
        await drains.at(-1)![0](webhook);
        return "recorded";
      } catch (error) {
        return { error, isGivenUp: options().isHopeless!(error), isSkipped: options().isSkipped!(error) };
      }
    },
    recordManySpooled: (webhooks: readonly SpooledWebhook[]) => options().recordMany!(webhooks),
  };
}

/** Returns a verified webhook, before it is recorded. */
export function arrivalOf(receiptId = "r-1", body: unknown = completedBody()): Arrival {
  const rawBody = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const message = readMessage({ rawBody, covers: "body" });
  return { receiptId, rawBody, covers: "body", receivedAt: "2026-11-20T10:00:05.000Z", message };
}

/** Returns a webhook as the spool has it. */
export function spooledOf(receiptId = "r-1"): SpooledWebhook {
  const { message: _, ...webhook } = arrivalOf(receiptId);
  return webhook;
}
