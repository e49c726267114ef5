import { storeInTime } from "../../shared/with-timeout.js";
import { type PaymentStore } from "../../store/contract.js";

/** The time after which a write that hangs counts as failed, in milliseconds. */
const maxWriteMs = 30_000;

/**
 * The running writes, by store. While a write hangs, later calls wait for this write and do not start
 * another, until the write counts as failed.
 */
const writes = new WeakMap<object, Promise<true>>();

/** Resolves to `true` after a commit that changes nothing, because no webhook has the receiptId `health`. */
export function writeNothing<Tx>(store: PaymentStore<Tx>): Promise<true> {
  const write = async (): Promise<true> => {
    await store.transaction((tx) => store.save(tx, { raised: ["health"] }));
    return true;
  };
  const running = writes.get(store) ?? storeInTime(write(), maxWriteMs).finally(() => writes.delete(store));
  writes.set(store, running);
  return running;
}

/** Resolves to `true` after a cheap read, because no payment has an empty clientId. */
export async function readNothing<Tx>(store: PaymentStore<Tx>): Promise<true> {
  await store.find("");
  return true;
}
