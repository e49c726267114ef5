/** The name that gives each payment a random scenario of the catalogue. A seed repeats the same scenarios. */
export const randomName = "random";

/** A field of the webhook whose value may differ from the payment's value. */
type ChangedField = "amount" | "currency" | "clientId";

/** One webhook that is sent when the payment completes. */
export interface WebhookStep {
  /** A delay in milliseconds of the sandbox's clock. @default 0 */
  delayMs?: number | undefined;
  /** The number of times that the same bytes are sent, at the same moment. @default 1 */
  times?: number | undefined;
  /** The status in the webhook, which also gives the topic. @default the payment's status */
  status?: string | undefined;
  /**
   * The difference between the event's time and the true time; negative if the event's time is earlier.
   * @default 0
   */
  timestampOffsetMs?: number | undefined;
  /** Fields to set, by path: `{"topic": "payment.exploded", "data.note": "new"}`. @default {} */
  set?: Record<string, unknown> | undefined;
  /** The fields that already have wrong values before signing. @default [] */
  change?: ChangedField[] | undefined;
  /** The fields that are changed after signing. @default [] */
  tamper?: ChangedField[] | undefined;
  /** @default "right" */
  sign?: "right" | "wrong" | "old-secret" | "missing" | undefined;
  /** Whether the last half of the body is cut off after signing. @default false */
  truncate?: boolean | undefined;
  /** Whether the first attempt is lost. The retries arrive. @default false */
  loseFirst?: boolean | undefined;
}

/** One status that the payment gets. */
export interface Move {
  status: string;
  /** A delay in milliseconds of the sandbox's clock. @default 0 */
  delayMs?: number | undefined;
  /** Whether a webhook reports the status. @default as the settings say; true for `completed` */
  webhook?: boolean | undefined;
}

/**
 * A moment at which a payment gets statuses. `opened` is the opening of the checkout page. `replaced` is the
 * creation of a later payment of the same shop with another amount.
 */
export type Moment = "created" | "opened" | "approved" | "canceled" | "replaced";

/**
 * A named description of the service's behaviour for a payment, as plain data that a JSON file can hold. Each
 * field replaces the normal behaviour. An absent field changes nothing.
 */
export interface Scenario {
  /** The name, of lower-case letters, digits and hyphens. The name is unique in a sandbox. */
  name: string;
  /** A text of at most 300 characters that describes the scenario. @default none */
  about?: string | undefined;
  /** The behaviour at a request for an access token. @default the normal answer */
  token?:
    | {
        answer?: "unavailable" | "hang" | "html" | undefined;
        /** The time after which the token stops working, independent of `expires_in`. */
        expiresAfterMs?: number | undefined;
      }
    | undefined;
  /** The behaviour at the creation of a payment. @default the normal answer */
  creation?:
    | {
        /** @default "normal" */
        answer?: "normal" | "error" | "hang" | "html" | "reset" | undefined;
        /** The HTTP status with `error`. @default 500 */
        status?: number | undefined;
        /** Whether the payment exists if the answer is not normal. @default false */
        exists?: boolean | undefined;
        /** The delay of the response in milliseconds. The payment is created before the delay. @default 0 */
        delayMs?: number | undefined;
        /** Whether the response waits for the first attempt of each webhook. @default false */
        afterWebhooks?: boolean | undefined;
      }
    | undefined;
  /** The statuses that the payment gets at each moment. @default the normal statuses */
  moves?: Partial<Record<Moment, Move[] | undefined>> | undefined;
  /** Whether a canceled payment completes with the shop's next payment of the same amount. @default false */
  paidWithNext?: boolean | undefined;
  /** The webhooks that are sent when the payment completes; an empty list sends none. @default one webhook */
  webhooks?: WebhookStep[] | undefined;
}
