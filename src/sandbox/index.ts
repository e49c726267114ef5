export { createSandbox } from "./create-sandbox.js";
export { type Sandbox } from "./contract.js";
export { type Refusal, type SandboxEvent } from "./core.js";
export {
  type SandboxClient,
  type SandboxOptions,
  type SandboxProvider,
  type SandboxSignature,
  type SandboxSigning,
} from "./options.js";
export { type SandboxClock } from "./clock/clock.js";
export { catalogue } from "./scenario/catalogue.js";
export { readScenarioFile } from "./scenario/read-scenario-file.js";
export { type Scenario, scenarioSchema } from "./scenario/scenario.js";
export { type WebhookAddress } from "./state/addresses.js";
export { type SandboxPayment, type SandboxStatus } from "./state/payments.js";
export { type SandboxSettings } from "./state/settings.js";
export { type SigningState } from "./state/signing.js";
export { type SandboxToken } from "./state/tokens.js";
export { type Delivery } from "./webhook/delivery.js";
export { type WebhookBody, type WebhookByHand, type WebhookOverrides } from "./webhook/message.js";
