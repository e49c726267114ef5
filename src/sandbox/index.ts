/**
 * An emulation of the payment service.
 *
 * @module tillkit/sandbox
 */

export { createSandbox } from "./create-sandbox.js";
export { type Sandbox } from "./contract.js";
export { type Refusal, type SandboxEvent } from "./core/core.js";
export { type SandboxClock } from "./clock/clock.js";
export { type SandboxOptions, type SandboxProvider } from "./options/options.js";
export { catalogue } from "./scenario/catalogue.js";
export { readScenarioFile } from "./scenario/read-scenario-file.js";
export { type Scenario } from "./scenario/scenario.js";
export { type WebhookAddress } from "./state/addresses.js";
export { type Delivery } from "./state/delivery.js";
export { type SandboxPayment, type SandboxStatus } from "./state/payments.js";
export { type SandboxSettings } from "./state/sandbox-settings.js";
export { type SandboxSignature, type SandboxSigning, type SigningState } from "./state/signing.js";
export { type SandboxClient, type SandboxToken } from "./state/tokens.js";
export { type WebhookBody, type WebhookByHand, type WebhookOverrides } from "./webhook/message.js";
