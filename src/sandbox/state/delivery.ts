/** One attempt to send one webhook to one address, after it ended. */
export interface Delivery {
  /** Unique for each attempt. */
  readonly id: string;
  /** Absent where the webhook is not about a payment, as when an address is tried. */
  readonly paymentId?: string;
  /** The address of this attempt. */
  readonly url: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The body as text. `deliverAgain` sends the original bytes. */
  readonly requestBody: string;
  /** The headers that were sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** The HTTP status of the response; absent where there was none. */
  readonly status?: number;
  /** The headers of the response; absent where there was none. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** The response's body as text, at most 64 KiB of it. */
  readonly responseBody?: string;
  /** Why there was no response. */
  readonly error?: string;
  /** When it was sent: ISO 8601 in UTC. */
  readonly at: string;
  /** The time until the response, or until the attempt failed. */
  readonly durationMs: number;
  /** The scenario that made the webhook, where it is not the normal one. */
  readonly scenario?: string;
  /** Present where `sendWebhook` made the webhook. */
  readonly byHand?: true;
}

/** Returns whether the endpoint accepted the webhook. A redirect does not count. */
export function isDelivered({ status }: Delivery): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
