/** An ended attempt to send one webhook to one address. */
export interface Delivery {
  /** The id, which is unique for each attempt. */
  readonly id: string;
  /** The id of the payment; absent for a webhook that only tries an address. */
  readonly paymentId?: string;
  /** The address of this attempt. */
  readonly url: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The body as text. `deliverAgain` sends the original bytes. */
  readonly requestBody: string;
  /** The headers that were sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** The HTTP status of the response; absent if there was no response. */
  readonly status?: number;
  /** The headers of the response; absent if there was no response. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /**
   * The first 64 KiB of the response's body, as text. Absent if there was no response, or if other machines
   * can reach the sandbox.
   */
  readonly responseBody?: string;
  /** The reason why there was no response. */
  readonly error?: string;
  /** The time of sending, in ISO 8601 and UTC. */
  readonly at: string;
  /** The time until the response, or until the attempt failed. */
  readonly durationMs: number;
  /** The scenario that made the webhook; absent for the normal scenario. */
  readonly scenario?: string;
  /** Set if `sendWebhook` made the webhook. */
  readonly byHand?: true;
}

/** Returns whether the endpoint accepted the webhook. A redirect does not count. */
export function isDelivered({ status }: Delivery): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
