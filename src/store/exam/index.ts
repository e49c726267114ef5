export { testStore, type StoreCapabilities, type StoreExamOptions } from "./test-store.js";
