import { type Request } from "express";
import { Activity } from "../clock/activity.js";
import { Clock } from "../clock/clock.js";
import { type ResolvedSandboxOptions } from "../options/options.js";
import { ScenarioRegistry } from "../scenario/scenario-registry.js";
import { WebhookAddresses } from "../state/addresses.js";
import { type SandboxPayment, SandboxPayments } from "../state/payments.js";
import { throwMisuse } from "../state/misuse.js";
import { createRandom } from "../state/random.js";
import { Settings } from "../state/settings.js";
import { Signing } from "../state/signing.js";
import { StateFile } from "../state/state-file.js";
import { AccessTokens } from "../state/tokens.js";
import { type Delivery } from "../state/delivery.js";

/** An event of the sandbox: a new or changed payment, an attempt to send a webhook, or a refused request. */
export type SandboxEvent =
  | { type: "payment.created" | "payment.moved"; payment: SandboxPayment; at: string }
  | { type: "delivery"; delivery: Delivery }
  | { type: "refusal"; refusal: Refusal };

/** A request of the merchant's server that the sandbox refused. */
export interface Refusal {
  /** The time of the refusal by the sandbox's clock, in ISO 8601 and UTC. */
  readonly at: string;
  /** The method and the path, such as `POST /v1/payments`. */
  readonly request: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** A description of the problem, with its fix. */
  readonly detail: string;
}

const maxRefusals = 100;

type EventListener = (event: SandboxEvent) => void;

/** The basic parts of a sandbox, which all other parts use. */
export type SandboxCore = ReturnType<typeof createSandboxCore>;

/** Makes the core of a sandbox, without restoring anything from the state file. */
export function createSandboxCore(options: ResolvedSandboxOptions) {
  const { clients, seed, allowRemoteWebhooks: allowRemote } = options;
  const stateFile = new StateFile(options.state);
  const events = createEvents();
  const activity = new Activity();
  const clock = new Clock(options.now, activity);
  const now = (): Date => clock.now();
  const time = (): string => now().toISOString();
  const refusals: Refusal[] = [];
  return {
    options,
    stateFile,
    events,
    /** The last refused requests, oldest first, which are not saved. */
    refusals: refusals as readonly Refusal[],
    /** Keeps a refusal, and emits it as an event. */
    noteRefusal: ({ method, originalUrl }: Request, status: number, detail: string) => {
      const request = `${method} ${originalUrl.split("?")[0]!.slice(0, 200)}`;
      const refusal = { at: time(), request, status, detail };
      if (refusals.push(refusal) > maxRefusals) refusals.shift();
      events.emit({ type: "refusal", refusal });
    },
    activity,
    clock,
    settings: new Settings(options.settings),
    signing: new Signing(options.signature),
    scenarios: new ScenarioRegistry(createRandom(seed, "scenarios"), options.scenarios, options.scenario),
    addresses: new WebhookAddresses({ allowRemote, now, stateFile }),
    tokens: new AccessTokens(clients, { now, stateFile }),
    payments: new SandboxPayments({
      now,
      random: createRandom(seed, "payments"),
      stateFile,
      onChange: (type, payment) => events.emit({ type, payment, at: time() }),
    }),
  };
}

function createEvents() {
  const listeners = new Set<EventListener>();
  return {
    emit: (event: SandboxEvent) => {
      for (const listener of listeners) listener(event);
    },
    /** Calls the listener for every event. Returns a function that removes the listener. */
    watch: (listener: EventListener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

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

/** Saves the secrets, credentials, settings, scenarios and clock of a sandbox as one value. */
export function saveState(core: SandboxCore): void {
  core.stateFile.put("sandbox", "sandbox", stateToSave(core));
}

/** The progress of reading the state file. */
export type Restoration = ReturnType<typeof restoreState>;

/** Restores the core and then the parts from the state file. Without a file, `done` is already resolved. */
export function restoreState(core: SandboxCore, parts: readonly { restore(): Promise<void> }[]) {
  const { options, payments, addresses, tokens } = core;
  let isDone = options.state === undefined;
  const addGiven = (): void => options.webhookUrls.forEach((url) => void addresses.add(url));
  const restore = async (): Promise<void> => {
    await restoreSavedState(core);
    await Promise.all([payments.restore(), addresses.restore(), tokens.restore()]);
    // The sender knows the ids of all webhooks before a payment's move that is due sends another one.
    for (const part of parts) await part.restore();
    isDone = true;
    addGiven();
    saveState(core);
  };
  if (isDone) addGiven();
  const done = isDone ? Promise.resolve() : restore();
  // `start()`, or the response to the first request, reports the error.
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

/** Restores the value that `saveState` saved. The options of this run have precedence. */
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
