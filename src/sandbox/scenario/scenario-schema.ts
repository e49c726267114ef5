import { z } from "zod";
import { type SchemasOf, strictObject } from "../state/misuse.js";
import { type Move, randomName, type Scenario, type WebhookStep } from "./scenario.js";

const delayMs = z.number().min(0).max(86_400_000);
const status = z.string().regex(/^[a-z_]{1,32}$/, "must be lower-case letters, such as completed");
const changedField = z.enum(["amount", "currency", "clientId"]);

const webhookStep = strictObject({
  delayMs: delayMs.optional(),
  times: z.int().min(1).max(100).optional(),
  status: status.optional(),
  timestampOffsetMs: z.number().optional(),
  set: z.record(z.string(), z.unknown()).optional(),
  change: z.array(changedField).optional(),
  tamper: z.array(changedField).optional(),
  sign: z.enum(["right", "wrong", "old-secret", "missing"]).optional(),
  truncate: z.boolean().optional(),
  loseFirst: z.boolean().optional(),
} satisfies SchemasOf<WebhookStep>);

const move = strictObject({
  status,
  delayMs: delayMs.optional(),
  webhook: z.boolean().optional(),
} satisfies SchemasOf<Move>);

export const scenarioSchema = strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,47}$/, "must be lower-case letters, digits and hyphens")
    .refine((name) => name !== randomName, "must not be random, the name that stands for any scenario"),
  about: z.string().max(300).optional(),
  token: strictObject({
    answer: z.enum(["unavailable", "hang", "html"]).optional(),
    expiresAfterMs: delayMs.optional(),
  } satisfies SchemasOf<NonNullable<Scenario["token"]>>).optional(),
  creation: strictObject({
    answer: z.enum(["normal", "error", "hang", "html", "reset"]).optional(),
    status: z.int().min(400).max(599).optional(),
    exists: z.boolean().optional(),
    delayMs: delayMs.optional(),
    afterWebhooks: z.boolean().optional(),
  } satisfies SchemasOf<NonNullable<Scenario["creation"]>>).optional(),
  moves: strictObject({
    created: z.array(move).optional(),
    opened: z.array(move).optional(),
    approved: z.array(move).optional(),
    canceled: z.array(move).optional(),
    replaced: z.array(move).optional(),
  } satisfies SchemasOf<NonNullable<Scenario["moves"]>>).optional(),
  paidWithNext: z.boolean().optional(),
  webhooks: z.array(webhookStep).max(50).optional(),
} satisfies SchemasOf<Scenario>);
