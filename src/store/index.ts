export { MemoryStore, type MemoryTx } from "./memory/memory-store.js";
export type * from "./contract.js";
export * from "./over/index.js";
