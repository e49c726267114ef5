import { type Changes, type Locked, type LockKeys, MemoryStore, type MemoryTx } from "tillkit";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { type Arrival, type Receipt } from "../../../src/webhook/recording/arrival.js";
import { Recorder } from "../../../src/webhook/recording/recorder.js";
import { type RecordingParts } from "../../../src/webhook/recording/recording-parts.js";
import { completedBody, type pendingPayment } from "../../support/webhooks.js";

type Decide = (locked: Locked) => Changes;

/** A recorder with what it announced, and one verified webhook. */
export function recorderOf(
  store: MemoryStore,
  policy: Partial<RecordingParts<MemoryTx>["policy"]> = {},
  deadlineMs = 5000,
) {
  const announced: string[] = [];
  const receipts: Receipt[] = [];
  let ids = 0;
  const parts: RecordingParts<MemoryTx> = {
    store,
    now: () => new Date("2026-11-20T10:00:06.000Z"),
    newId: () => `id-${++ids}`,
    policy: { clientIdPrefix: undefined, confirms: false, ...policy },
    maxGroup: 100,
    ready: () => Promise.resolve(),
    announceEvents: () => void announced.push("events"),
  };
  const recorder = new Recorder(parts, deadlineMs, (some) => receipts.push(...some));
  return { recorder, announced, receipts, parts };
}

/** Returns a completion whose body is signed. */
export function arrivalOf(data: Record<string, unknown> = {}, receiptId = "r-1"): Arrival {
  const rawBody = Buffer.from(JSON.stringify(completedBody(data)));
  const message = readMessage({ rawBody, covers: "body" });
  return { receiptId, rawBody, covers: "body", receivedAt: "2026-11-20T10:00:05.000Z", message };
}

/** A store whose `record` is replaced for some calls. */
export class ChangedRecord extends MemoryStore {
  calls = 0;
  change: (call: number, plain: () => Promise<boolean>) => Promise<boolean> = (_, plain) => plain();

  override record(keys: LockKeys, decide: Decide): Promise<boolean> {
    this.calls += 1;
    return this.change(this.calls, () => super.record(keys, decide));
  }
}

/** Resolves with the store when it has these payments. */
export async function seeded<Store extends MemoryStore>(
  store: Store,
  ...created: ReturnType<typeof pendingPayment>[]
) {
  await store.transaction((tx) => store.save(tx, { created }));
  return store;
}

/** Resolves with what became of each stored webhook. */
export const outcomesOf = async (store: MemoryStore) =>
  (await store.webhooks({ limit: 10 })).map(({ receiptId, outcome }) => `${receiptId} ${outcome}`);
