export { testStore, type StoreExamOptions } from "./test-store.js";
export { type StoreCapabilities } from "./capabilities.js";
