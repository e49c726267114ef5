import { Activity } from "./clock/activity.js";
import { Clock } from "./clock/clock.js";
import { type ResolvedSandboxOptions } from "./resolve-options.js";
import { ScenarioRegistry } from "./scenario/scenario-registry.js";
import { WebhookAddresses } from "./state/addresses.js";
import { type SandboxPayment, SandboxPayments } from "./state/payments.js";
import { createRandom } from "./state/random.js";
import { Settings } from "./state/settings.js";
import { Signing } from "./state/signing.js";
import { openStateFile, type StateFile } from "./state/state-file.js";
import { AccessTokens } from "./state/tokens.js";
import { type Delivery } from "./webhook/delivery.js";

/** Something that happened in the sandbox. */
export type SandboxEvent =
  | { type: "payment.created" | "payment.moved"; payment: SandboxPayment }
  | { type: "delivery"; delivery: Delivery };

type EventListener = (event: SandboxEvent) => void;

/** The parts of a sandbox on which all its other parts work. */
export interface SandboxCore {
  readonly options: ResolvedSandboxOptions;
  readonly stateFile: StateFile;
  readonly activity: Activity;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly signing: Signing;
  readonly scenarios: ScenarioRegistry;
  readonly addresses: WebhookAddresses;
  readonly tokens: AccessTokens;
  readonly payments: SandboxPayments;
  readonly events: {
    emit: EventListener;
    /** Calls the listener for every event. Returns a function that ends this. */
    watch: (listener: EventListener) => () => void;
  };
}

/** Makes the core of a sandbox. Nothing is restored from the state file yet. */
export function createSandboxCore(options: ResolvedSandboxOptions): SandboxCore {
  const { clients, seed, allowRemoteWebhooks: allowRemote } = options;
  const stateFile = openStateFile(options.state);
  const events = createEvents();
  const activity = new Activity();
  const clock = new Clock(options.now, activity);
  const now = (): Date => clock.now();
  return {
    options,
    stateFile,
    events,
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
      onChange: (type, payment) => events.emit({ type, payment }),
    }),
  };
}

function createEvents(): SandboxCore["events"] {
  const listeners = new Set<EventListener>();
  return {
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
