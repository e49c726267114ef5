export { MemoryStore, type MemoryTx } from "./memory/memory-store.js";
export type * from "./payment-store.js";
export * from "./over/index.js";
