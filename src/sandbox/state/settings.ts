import { z } from "zod";
import { misused } from "../misused.js";

const ms = z.number().min(0).max(86_400_000);

/** Statuses that a payment may pass through on its way, where the service tells of more than the document shows. */
export const intermediateStatuses = ["init", "submitted", "approved", "captured"] as const;

export const settingsSchema = z.strictObject({
  /** Whether what the interface document does not allow is refused, with a message that teaches. */
  strict: z.boolean(),
  /** Status of the answer to a creation. */
  successStatus: z.union([z.literal(200), z.literal(201), z.literal(202)]),
  /** How errors are answered: `problem` (status, title, detail), `bare` (no body), or `html`. */
  errorBodies: z.enum(["problem", "bare", "html"]),
  echoClientId: z.boolean(),
  readBack: z.boolean(),
  statuses: z.array(z.enum(intermediateStatuses)),
  statusWebhooks: z.boolean(),
  cancelWebhook: z.boolean(),
  failureWebhook: z.boolean(),
  accessTokenTtlSeconds: z.number().min(0).max(31_536_000),
  webhookDelayMs: ms,
  webhookTimeoutMs: ms.min(1),
  retryDelaysMs: z.array(ms).max(50),
});

/** What the interface document leaves open, as the sandbox does it now. See {@link SandboxOptions} for each. */
export type SandboxSettings = z.infer<typeof settingsSchema>;

/** The settings of one sandbox; they can be changed while it runs. */
export class Settings {
  #current: SandboxSettings;

  constructor(initial: SandboxSettings) {
    this.#current = initial;
  }

  get current(): Readonly<SandboxSettings> {
    return this.#current;
  }

  /** Throws `sandbox_misused`, and changes nothing, where one of them cannot be. */
  change(changes: Partial<SandboxSettings>): void {
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const result = settingsSchema.partial().safeParse(given);
    if (!result.success) {
      const problems = result.error.issues.map(
        ({ path, message }) => `${path.join(".") || "they"}: ${message}`,
      );
      misused(`The settings cannot be changed so. ${problems.join("; ")}.`);
    }
    this.#current = { ...this.#current, ...(result.data as SandboxSettings) };
  }
}
