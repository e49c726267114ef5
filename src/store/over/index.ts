export type {
  BatchAdapter,
  BatchTx,
  KeyRange,
  RecordChange,
  StoredRecord,
  TransactionAdapter,
} from "../adapter.js";
export { storeOver, type StoreOverOptions } from "./store-over.js";
