export { errorFixes, type ErrorCode } from "./codes.js";
export { hasCode, TillkitError } from "./tillkit-error.js";
export { ConfigurationError, type ConfigurationProblem } from "./configuration-error.js";
export { rejectionStatus, WebhookRejectedError, type RejectionCode } from "./webhook-rejected-error.js";
