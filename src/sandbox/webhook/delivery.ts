/** One attempt to send one webhook to one address, once it has ended. */
export interface Delivery {
  /** Unique per attempt. */
  readonly id: string;
  /** Absent where the webhook is about no payment, as when an address is tried. */
  readonly paymentId?: string;
  readonly url: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** As text; the bytes themselves are what "send again" sends. */
  readonly requestBody: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The HTTP status of the answer; absent where there was none. */
  readonly status?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
  /** Why there was no answer. */
  readonly error?: string;
  /** When it was sent: ISO 8601 UTC. */
  readonly at: string;
  readonly durationMs: number;
  /** The scenario that made the webhook, where it is not the normal one. */
  readonly scenario?: string;
}

/** Whether the endpoint took the webhook. A redirect is not an answer. */
export function isAccepted({ status }: Delivery): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
