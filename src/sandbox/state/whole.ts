import { type Clock } from "../clock/clock.js";
import { type ResolvedOptions, type SandboxClient } from "../options.js";
import { type KeptBook, type ScenarioBook } from "../scenario/scenario-book.js";
import { type Keeper } from "./keeper.js";
import { type SandboxSettings, type Settings } from "./settings.js";
import { type Signing } from "./signing.js";
import { type AccessTokens } from "./tokens.js";

/** The parts of a sandbox that are kept as one. */
export interface WholeParts {
  clock: Clock;
  signing: Signing;
  settings: Settings;
  scenarios: ScenarioBook;
  tokens: AccessTokens;
  keeper: Keeper;
}

interface Whole extends KeptBook {
  clients: readonly SandboxClient[];
  secret?: string;
  previousSecret?: string;
  aheadMs: number;
  settings: SandboxSettings;
}

/** Keeps what there is one of: secrets, credentials, settings, the scenario, the clock. */
export function keepWhole({ clock, signing, settings, scenarios, tokens, keeper }: WholeParts): void {
  const { secret, previousSecret } = signing.state;
  const whole: Whole = {
    clients: tokens.clients,
    ...(secret !== undefined && { secret }),
    ...(previousSecret !== undefined && { previousSecret }),
    aheadMs: clock.aheadMs,
    settings: settings.current,
    ...scenarios.kept,
  };
  keeper.put("whole", "whole", whole);
}

/** Takes it over, but for what the options give anew; nothing where the file is new. */
export async function resumeWhole(parts: WholeParts, { given }: ResolvedOptions): Promise<void> {
  const { clock, signing, settings, scenarios, tokens, keeper } = parts;
  const [whole] = await keeper.load<Whole>("whole");
  if (whole === undefined) return;
  const { secret, previousSecret } = whole;
  if (secret !== undefined) signing.resume({ secret, previousSecret });
  clock.resume(whole.aheadMs);
  settings.change({ ...whole.settings, ...given.settings });
  scenarios.resume(whole, given);
  if (!given.clients) tokens.replaceClients(whole.clients);
}
