import { MemoryStore, type PaymentStore, storeOver } from "tillkit";
import { memoryAdapter } from "../over/memory-adapter.js";

/** The stores that call the rules in this process. The SQL stores have most of the rules in their statements. */
export const keptInMemory: [name: string, open: () => PaymentStore][] = [
  ["a MemoryStore", () => new MemoryStore()],
  ["a storeOver", () => storeOver(memoryAdapter())],
];
