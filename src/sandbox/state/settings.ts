import { z } from "zod";
import { strictObject } from "./strict-object.js";
import { parseOrThrowMisuse } from "./throw-misuse.js";

const ms = z.number().min(0).max(86_400_000);

/** The statuses that a payment can take between approval and completion. */
export const intermediateStatuses = ["init", "submitted", "approved", "captured"] as const;

/** Checks the settings. The options of the same names say what each one does. */
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
});

/** The sandbox's present behaviour where the interface document says nothing. See {@link SandboxOptions} for each. */
export type SandboxSettings = z.infer<typeof settingsSchema>;

/** The settings of one sandbox, which can change while it runs. */
export class Settings {
  #current: SandboxSettings;

  constructor(initial: SandboxSettings) {
    this.#current = initial;
  }

  get current(): Readonly<SandboxSettings> {
    return this.#current;
  }

  /** Changes the settings that are given. Throws `sandbox_misused`, and changes nothing, if a value is not allowed. */
  change(changes: Partial<SandboxSettings>): void {
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const valid = parseOrThrowMisuse(settingsSchema.partial(), given, "The settings cannot be changed.");
    this.#current = { ...this.#current, ...(valid as SandboxSettings) };
  }
}
