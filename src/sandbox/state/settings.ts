import { parseOrThrowMisuse } from "./misuse.js";
import { type SandboxSettings } from "./sandbox-settings.js";
import { settingsSchema } from "./settings-schema.js";

/** The settings of one sandbox, which can change while it runs. */
export class Settings {
  #current: SandboxSettings;

  constructor(initial: SandboxSettings) {
    this.#current = initial;
  }

  get current(): Readonly<SandboxSettings> {
    return this.#current;
  }

  /** Changes the given settings. Throws `sandbox_misused`, and changes nothing, if a value is not allowed. */
  change(changes: Partial<SandboxSettings>): void {
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const valid = parseOrThrowMisuse(settingsSchema.partial(), given, "The settings cannot be changed.");
    this.#current = { ...this.#current, ...(valid as SandboxSettings) };
  }
}
