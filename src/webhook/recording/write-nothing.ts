import { type PaymentStore } from "../../store/contract.js";

/**
 * The running writes, by store. While a write hangs, later calls wait for this write and do not start
 * another.
 */
const writes = new WeakMap<object, Promise<true>>();

/** Resolves to `true` after a commit that changes nothing, because no webhook has the receiptId `health`. */
export function writeNothing<Tx>(store: PaymentStore<Tx>): Promise<true> {
  const write = async (): Promise<true> => {
    await store.transaction((tx) => store.save(tx, { raised: ["health"] }));
    return true;
  };
  const running = writes.get(store) ?? write().finally(() => writes.delete(store));
  writes.set(store, running);
  return running;
}
