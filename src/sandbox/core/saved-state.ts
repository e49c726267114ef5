import { type SandboxCore } from "./core.js";
import { throwMisuse } from "../state/misuse.js";

type SavedState = ReturnType<typeof stateToSave>;

function stateToSave({ clock, signing, settings, scenarios, tokens }: SandboxCore) {
  const { secret, previousSecret } = signing.state;
  return {
    clients: tokens.clients,
    secret,
    previousSecret,
    aheadMs: clock.aheadMs,
    settings: settings.current,
    ...scenarios.saved,
  };
}

/** Saves what a sandbox has only once: secrets, credentials, settings, scenarios and the clock. */
export function saveState(core: SandboxCore): void {
  core.stateFile.put("sandbox", "sandbox", stateToSave(core));
}

/** The progress of reading the state file. */
export type Restoration = ReturnType<typeof restoreState>;

/** Restores the core and then the parts from the state file. Without a state file, all is ready when this returns. */
export function restoreState(core: SandboxCore, parts: readonly { restore(): Promise<void> }[]) {
  const { options, payments, addresses, tokens } = core;
  let isDone = options.state === undefined;
  const addGiven = (): void => options.webhookUrls.forEach((url) => void addresses.add(url));
  const restore = async (): Promise<void> => {
    await restoreSavedState(core);
    await Promise.all([payments.restore(), addresses.restore(), tokens.restore()]);
    await Promise.all(parts.map((part) => part.restore()));
    isDone = true;
    addGiven();
    saveState(core);
  };
  if (isDone) addGiven();
  const done = isDone ? Promise.resolve() : restore();
  // The error is reported by start(), or in the response to the first request.
  done.catch(() => {});
  return {
    /** Resolves when the state is restored. Rejects if the file cannot be read. */
    done,
    /** Throws `sandbox_misused` while the state is being restored. */
    requireDone: () => {
      if (!isDone) throwMisuse("The sandbox has not read its state from the file yet: await start() first.");
    },
  };
}

/** Restores what `saveState` saved. Options that were given have precedence. */
async function restoreSavedState(core: SandboxCore): Promise<void> {
  const { clock, signing, settings, scenarios, tokens, stateFile, options } = core;
  const [saved] = await stateFile.load<SavedState>("sandbox");
  if (saved === undefined) return;
  const { secret, previousSecret } = saved;
  if (secret !== undefined) signing.restore({ secret, previousSecret });
  clock.restore(saved.aheadMs);
  settings.change({ ...saved.settings, ...options.given.settings });
  scenarios.restore(saved, options.given);
  if (!options.given.clients) tokens.clients = saved.clients;
}
