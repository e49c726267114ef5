export type { StoreProbe } from "./checks/steps.js";
export type { CheckResult, StoreFactory, StoreTools } from "./run-check.js";
export {
  describeFailure,
  examineStore,
  isProbePart,
  testStore,
  type StoreExam,
  type StoreExamOptions,
} from "./test-store.js";
