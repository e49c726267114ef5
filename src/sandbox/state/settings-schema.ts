import { z } from "zod";
import { type SchemasOf, strictObject } from "./misuse.js";
import { intermediateStatuses, type SandboxSettings } from "./sandbox-settings.js";

const ms = z.number().min(0).max(86_400_000);

export const settingsSchema = strictObject({
  strict: z.boolean(),
  successStatus: z.union([z.literal(200), z.literal(201), z.literal(202)]),
  errorBodies: z.enum(["problem", "bare", "html"]),
  echoClientId: z.boolean(),
  readBack: z.boolean(),
  readBackBare: z.boolean(),
  statuses: z.array(z.enum(intermediateStatuses)),
  statusWebhooks: z.boolean(),
  cancelWebhook: z.boolean(),
  failureWebhook: z.boolean(),
  accessTokenTtlSeconds: z.number().min(0).max(31_536_000),
  webhookDelayMs: ms,
  webhookTimeoutMs: ms.min(1),
  retryDelaysMs: z.array(ms).max(50),
} satisfies SchemasOf<SandboxSettings>);
