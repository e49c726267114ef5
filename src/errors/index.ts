export { errorFixes, type ErrorCode, rejectionStatus, type RejectionCode } from "./codes.js";
export {
  ConfigurationError,
  type ConfigurationProblem,
  hasCode,
  isTillkitError,
  TillkitError,
  WebhookRejectedError,
} from "./tillkit-error.js";
