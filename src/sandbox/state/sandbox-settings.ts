/** The statuses that a payment can get between approval and completion. */
export const intermediateStatuses = ["init", "submitted", "approved", "captured"] as const;

/** The settings for behaviour that the interface document does not specify. */
export interface SandboxSettings {
  /**
   * Whether a request that the interface document does not allow is refused with a message that explains why.
   * @default true
   */
  strict: boolean;
  /** The HTTP status of the response to a creation. The interface document does not show it. @default 201 */
  successStatus: 200 | 201 | 202;
  /** The form of error responses: JSON with status, title and detail; empty; or a page. @default "problem" */
  errorBodies: "problem" | "bare" | "html";
  /** Whether the creation response has `clientId` in `data`, unlike the document (2.1). @default false */
  echoClientId: boolean;
  /** Whether `GET /v1/payments` and `GET /v1/payments/{id}` work, unlike in the document. @default false */
  readBack: boolean;
  /** Whether `GET` returns payments without the enclosing field `data`. @default false */
  readBackBare: boolean;
  /** The statuses that a payment gets after the approval and before `completed`, in order. @default [] */
  statuses: (typeof intermediateStatuses)[number][];
  /** Whether a webhook reports each of the `statuses`. @default false */
  statusWebhooks: boolean;
  /** Whether a cancel sends `payment.canceled`; the document shows no such webhook. @default false */
  cancelWebhook: boolean;
  /** Whether a failure sends `payment.failed`; the document shows no such webhook. @default false */
  failureWebhook: boolean;
  /** The lifetime of an access token in seconds. @default 3600 */
  accessTokenTtlSeconds: number;
  /**
   * Milliseconds between a change and its webhook. With a delay, a person can see the shop's page wait.
   * @default 0
   */
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
