/** The statuses that a payment can take between approval and completion. */
export const intermediateStatuses = ["init", "submitted", "approved", "captured"] as const;

/** The sandbox's present behaviour where the interface document says nothing. */
export interface SandboxSettings {
  /**
   * Whether a request that the interface document does not allow is refused with a message that explains why.
   * @default true
   */
  strict: boolean;
  /** The HTTP status of the response to a creation. The interface document does not show it. @default 201 */
  successStatus: 200 | 201 | 202;
  /** The form of error responses: JSON with status, title and detail; no body; or a page. @default "problem" */
  errorBodies: "problem" | "bare" | "html";
  /** Whether the response to a creation has `clientId` in `data`; the document (2.1) says no. @default false */
  echoClientId: boolean;
  /** Whether `GET /v1/payments/{id}` and `GET /v1/payments` work; the document shows neither. @default false */
  readBack: boolean;
  /** Whether payments that are read back stand alone, and not under `data`. @default false */
  readBackBare: boolean;
  /** The statuses that a payment takes after the approval and before `completed`, in this order. @default [] */
  statuses: (typeof intermediateStatuses)[number][];
  /** Whether a webhook reports each of the `statuses`. @default false */
  statusWebhooks: boolean;
  /** Whether a cancel sends `payment.canceled`; the document shows no such webhook. @default false */
  cancelWebhook: boolean;
  /** Whether a failure sends `payment.failed`; the document shows no such webhook. @default false */
  failureWebhook: boolean;
  /** The lifetime of an access token in seconds. @default 3600 */
  accessTokenTtlSeconds: number;
  /** Milliseconds between a change and its webhook, so that a person can see the merchant's page wait. @default 0 */
  webhookDelayMs: number;
  /** Milliseconds after which a webhook without a response has failed. @default 5000 */
  webhookTimeoutMs: number;
  /** Milliseconds before each retry of a webhook; `[]` sends it once. @default [1000, 5000, 30000] */
  retryDelaysMs: number[];
}

/** The settings as options of a sandbox. */
export type GivenSettings = {
  [Name in keyof SandboxSettings]?: Readonly<SandboxSettings[Name]> | undefined;
};
