import { z } from "zod";
import { strictObject } from "../state/strict-object.js";

/**
 * The name under which each payment gets a random scenario of the catalogue. With a seed, it gets the same
 * one in every run.
 */
export const randomName = "random";

/** A delay in milliseconds of the sandbox's clock. */
const delayMs = z.number().min(0).max(86_400_000);
const status = z.string().regex(/^[a-z_]{1,32}$/, "must be lower-case letters, such as completed");

/** A field of the webhook that gets a value that differs from the payment's. */
const changedField = z.enum(["amount", "currency", "clientId"]);

/** One webhook that is sent when the payment completes. */
const webhookStep = strictObject({
  /** @default 0 */
  delayMs: delayMs.optional(),
  /** The number of times that the same bytes are sent, at the same moment. @default 1 */
  times: z.int().min(1).max(100).optional(),
  /** The status in the webhook, which also gives the topic. @default the payment's status */
  status: status.optional(),
  /** The difference between the event's time and the true time; negative for an earlier one. @default 0 */
  timestampOffsetMs: z.number().optional(),
  /** Fields to set, by path: `{"topic": "payment.exploded", "data.note": "new"}`. */
  set: z.record(z.string(), z.unknown()).optional(),
  /** The fields that are wrong before signing. */
  change: z.array(changedField).optional(),
  /** The fields that are changed after signing. */
  tamper: z.array(changedField).optional(),
  /** @default "right" */
  sign: z.enum(["right", "wrong", "old-secret", "missing"]).optional(),
  /** Whether the last half of the body is cut off after signing. */
  truncate: z.boolean().optional(),
  /** Whether the first attempt is lost. The retries arrive. */
  loseFirst: z.boolean().optional(),
});

/** One status that the payment takes. */
const move = strictObject({
  status,
  /** @default 0 */
  delayMs: delayMs.optional(),
  /** Whether a webhook reports it. @default as the settings say; true for `completed` */
  webhook: z.boolean().optional(),
});

/** Checks a scenario. Each field replaces the normal behaviour; a field that is absent changes nothing. */
export const scenarioSchema = strictObject({
  /** Lower-case letters, digits and hyphens; unique in a sandbox. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,47}$/, "must be lower-case letters, digits and hyphens")
    .refine((name) => name !== randomName, "must not be random, the name that stands for any scenario"),
  /** A sentence that describes it. */
  about: z.string().max(300).optional(),
  /** The request for an access token. */
  token: strictObject({
    answer: z.enum(["unavailable", "hang", "html"]).optional(),
    /** The time after which the token stops working, whatever `expires_in` says. */
    expiresAfterMs: delayMs.optional(),
  }).optional(),
  /** The creation of a payment. */
  creation: strictObject({
    /** @default "normal" */
    answer: z.enum(["normal", "error", "hang", "html", "reset"]).optional(),
    /** The HTTP status with `error`. @default 500 */
    status: z.int().min(400).max(599).optional(),
    /** Whether the payment exists if the answer is not normal. @default false */
    exists: z.boolean().optional(),
    /** The delay of the response. The payment exists before it. @default 0 */
    delayMs: delayMs.optional(),
    /** Whether the response waits for the first attempt of each webhook. */
    afterWebhooks: z.boolean().optional(),
  }).optional(),
  /** The statuses that the payment takes at each moment, in place of the normal ones. */
  moves: strictObject({
    created: z.array(move).optional(),
    opened: z.array(move).optional(),
    approved: z.array(move).optional(),
    canceled: z.array(move).optional(),
    replaced: z.array(move).optional(),
  }).optional(),
  /** Whether a canceled payment completes when the next one of the same shop and amount completes. */
  paidWithNext: z.boolean().optional(),
  /** The webhooks that are sent when the payment completes, in place of the normal one; an empty list sends none. */
  webhooks: z.array(webhookStep).max(50).optional(),
});

/** A named description of how the service behaves for a payment, as plain data that a JSON file can hold. */
export type Scenario = z.infer<typeof scenarioSchema>;
export type WebhookStep = z.infer<typeof webhookStep>;
export type Move = z.infer<typeof move>;
/**
 * A moment at which a payment takes statuses: creation, opening of the checkout page, the customer's decision, and the creation of the
 * same shop's next payment, of another amount.
 */
export type Moment = keyof NonNullable<Scenario["moves"]>;
