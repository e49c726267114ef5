/** The statuses that a payment can take between approval and completion. */
export const intermediateStatuses = ["init", "submitted", "approved", "captured"] as const;

/** The sandbox's present behaviour where the interface document says nothing. See {@link SandboxOptions} for each. */
export interface SandboxSettings {
  /** Whether a request that the interface document does not allow is refused. */
  strict: boolean;
  /** The HTTP status of the response to a creation. */
  successStatus: 200 | 201 | 202;
  /** The form of error responses: JSON with status, title and detail; no body; or a page. */
  errorBodies: "problem" | "bare" | "html";
  /** Whether the response to a creation has `clientId` in `data`. */
  echoClientId: boolean;
  /** Whether payments can be read back. */
  readBack: boolean;
  /** Whether payments that are read back stand alone, and not under `data`. */
  readBackBare: boolean;
  /** The statuses that a payment takes after the approval and before `completed`, in this order. */
  statuses: (typeof intermediateStatuses)[number][];
  /** Whether a webhook reports each of the `statuses`. */
  statusWebhooks: boolean;
  /** Whether a cancel sends `payment.canceled`. */
  cancelWebhook: boolean;
  /** Whether a failure sends `payment.failed`. */
  failureWebhook: boolean;
  /** The lifetime of an access token. */
  accessTokenTtlSeconds: number;
  /** Milliseconds between a change and its webhook. */
  webhookDelayMs: number;
  /** Milliseconds after which a webhook without a response has failed. */
  webhookTimeoutMs: number;
  /** Milliseconds before each retry of a webhook. */
  retryDelaysMs: number[];
}
