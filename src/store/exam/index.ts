export type { CheckResult, StoreFactory } from "./run-check.js";
export {
  describeFailure,
  examineStore,
  testStore,
  type StoreCapabilities,
  type StoreExam,
  type StoreExamOptions,
} from "./test-store.js";
