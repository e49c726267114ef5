import { type SandboxConfiguration } from "../contract.js";
import { type SandboxCore } from "../core/core.js";
import { type Restoration, saveState } from "../core/saved-state.js";

/** Makes the part of the sandbox that holds its credentials, scenarios and settings. */
export function createConfiguration(core: SandboxCore, restoration: Restoration): SandboxConfiguration {
  const { payments, scenarios, settings, signing, tokens } = core;
  /** Changes the configuration and saves it. */
  const change = <T>(run: () => T): T => {
    restoration.requireDone();
    const result = run();
    saveState(core);
    return result;
  };
  const restored = <T>(part: T): T => {
    restoration.requireDone();
    return part;
  };

  return {
    get secret() {
      return restored(signing).state.secret;
    },
    get signing() {
      return restored(signing).state;
    },
    get client() {
      return restored(tokens).clients[0]!;
    },
    rotateSecret: () => change(() => signing.rotate()),
    accessToken: ({ ttlSeconds = settings.current.accessTokenTtlSeconds } = {}) =>
      restored(tokens).issue(ttlSeconds * 1000),
    accessTokens: () => tokens.list(),
    revokeAccessTokens: (id) => restored(tokens).revoke(id),

    get scenarios() {
      return scenarios.list();
    },
    get currentScenario() {
      return scenarios.current;
    },
    scenario: (scenario, { for: idOrClientId } = {}) =>
      change(() => {
        const name = typeof scenario === "string" ? scenario : scenarios.add(scenario);
        if (idOrClientId === undefined) return scenarios.choose(name);
        const payment = payments.find(idOrClientId);
        const assigned = scenarios.assign(payment?.clientId ?? idOrClientId, name);
        if (payment) payments.assignScenario(payment, assigned);
      }),
    addScenario: (scenario) => change(() => scenarios.add(scenario)),

    get settings() {
      return settings.current;
    },
    change: (changes) => change(() => settings.change(changes)),
  };
}
