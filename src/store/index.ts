export { MemoryStore, type MemoryTx } from "./memory/memory-store.js";
export type * from "./contract.js";
export type {
  BatchAdapter,
  BatchTx,
  KeyRange,
  RecordChange,
  StoredRecord,
  TransactionAdapter,
} from "./adapter.js";
export { storeOver, type StoreOverOptions } from "./over/store-over.js";
