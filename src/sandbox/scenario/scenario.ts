import { z } from "zod";

/** Chooses one of the catalogue's for each payment, by chance; repeatable with a seed. */
export const randomName = "random";

/** A wait, in milliseconds of the sandbox's clock. */
const delayMs = z.number().min(0).max(86_400_000);
const status = z.string().regex(/^[a-z_]{1,32}$/, "must be lower-case letters, such as completed");

/** What is changed in a webhook's content; each to something that the merchant did not ask for. */
const change = z.enum(["amount", "currency", "clientId"]);

/** One webhook that is sent when the payment completes. */
const webhookStep = z.strictObject({
  /** @default 0 */
  delayMs: delayMs.optional(),
  /** How often the same bytes are sent, all at once. @default 1 */
  times: z.int().min(1).max(100).optional(),
  /** The status that it tells, with the topic of that name. @default the payment's status */
  status: status.optional(),
  /** The event's time, relative to the true one; a negative one is earlier. @default 0 */
  timestampOffsetMs: z.number().optional(),
  /** Fields to set, by path: `{"topic": "payment.exploded", "data.note": "new"}`. */
  set: z.record(z.string(), z.unknown()).optional(),
  /** What the service itself says wrongly, and signs. */
  change: z.array(change).optional(),
  /** What somebody on the way changed, after it was signed. */
  tamper: z.array(change).optional(),
  /** @default "right" */
  sign: z.enum(["right", "wrong", "old-secret", "missing"]).optional(),
  /** The last half of the body is cut off, after it was signed. */
  truncate: z.boolean().optional(),
  /** The first attempt never arrives; the retries do. */
  loseFirst: z.boolean().optional(),
});

/** One status that the payment takes. */
const move = z.strictObject({
  status,
  /** @default 0 */
  delayMs: delayMs.optional(),
  /** Whether a webhook tells of it, whatever the settings say. `completed` is always told. */
  webhook: z.boolean().optional(),
});

/** What happens when, in place of the usual. */
export const scenarioSchema = z.strictObject({
  /** Lower-case words joined by hyphens; unique in a sandbox. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,47}$/, "must be lower-case letters, digits and hyphens")
    .refine((name) => name !== randomName, "must not be random, which chooses one by chance"),
  /** What it shows, in a sentence. */
  about: z.string().max(300).optional(),
  about_fr: z.string().max(300).optional(),
  /** Asking for an access token. */
  token: z
    .strictObject({
      answer: z.enum(["unavailable", "hang", "html"]).optional(),
      /** The token stops working so early, whatever `expires_in` says. */
      expiresAfterMs: delayMs.optional(),
    })
    .optional(),
  /** Creating a payment. */
  creation: z
    .strictObject({
      /** @default "normal" */
      answer: z.enum(["normal", "error", "hang", "html", "reset"]).optional(),
      /** With `error`. @default 500 */
      status: z.int().min(400).max(599).optional(),
      /** Whether the payment exists all the same, where the answer is not normal. @default false */
      exists: z.boolean().optional(),
      /** The payment is made at once, the answer comes so late. @default 0 */
      delayMs: delayMs.optional(),
      /** The answer waits for the first attempt of each webhook. */
      afterWebhooks: z.boolean().optional(),
    })
    .optional(),
  /** What becomes of the payment at each moment; a moment that is named replaces the usual. */
  moves: z
    .strictObject({
      created: z.array(move).optional(),
      opened: z.array(move).optional(),
      approved: z.array(move).optional(),
      canceled: z.array(move).optional(),
    })
    .optional(),
  /** The canceled payment is paid after all, together with the next one of the same amount. */
  paidWithNext: z.boolean().optional(),
  /** The webhooks of the completion, in place of the one; an empty list sends none. */
  webhooks: z.array(webhookStep).max(50).optional(),
});

/**
 * A day that differs from the usual: named, made of plain data, so that it can be kept in a file. An empty one is a
 * good day.
 */
export type Scenario = z.infer<typeof scenarioSchema>;
export type WebhookStep = z.infer<typeof webhookStep>;
export type Move = z.infer<typeof move>;
/** When a payment may move: its creation, the opening of its checkout page, the customer's decision. */
export type Moment = keyof NonNullable<Scenario["moves"]>;
