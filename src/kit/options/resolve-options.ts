import { type Logger } from "pino";
import { ConfigurationError } from "../../errors/index.js";
import { type SignedField } from "../../model/signed-fields.js";
import { unprinted } from "../../service/access-token.js";
import { type PaymentServiceOptions } from "../../service/index.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type PaymentStore } from "../../store/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { defaults } from "./defaults.js";
import { problemsOf } from "./option-problems.js";
import { type PaymentsOptions, type ReturnOptions, type SpoolDirectoryOptions } from "./options.js";

/** The options with all defaults filled in. */
export interface ResolvedOptions<Covers extends SignedField = SignedField, Tx = unknown> {
  publicUrl: string;
  service: PaymentServiceOptions & { timeoutMs: number };
  signature: SignatureScheme<Covers>;
  store: PaymentStore<Tx>;
  paths: typeof defaults.paths;
  webhook: typeof defaults.webhook & { failures: typeof defaults.failures | undefined };
  spool: { directory: string; maxBytes: number } | undefined;
  health: typeof defaults.health;
  returns: ReturnOptions;
  dispatch: typeof defaults.dispatch;
  /** Whether this process calls handlers. */
  dispatches: boolean;
  reuseForMs: number;
  overdueMs: number;
  sweepMs: number;
  unmatchedAfterMs: number;
  clientIdPrefix: string | undefined;
  /** `undefined` where nothing is looked up. */
  lookup: typeof defaults.lookup | undefined;
  confirm: "lookup" | undefined;
  logger: Logger | false | undefined;
  now: () => Date;
}

/**
 * Fills in the defaults.
 *
 * @throws ConfigurationError with every problem of the options.
 */
export function resolveOptions<Covers extends SignedField, Tx>(
  options: PaymentsOptions<Covers, Tx>,
  environment: NodeJS.ProcessEnv = process.env,
): ResolvedOptions<Covers, Tx> {
  const problems = problemsOf(options, environment);
  const { publicUrl, service, signature, store } = options;
  if (problems.length > 0 || publicUrl === undefined || !signature || !store) {
    throw new ConfigurationError(problems);
  }
  const { returns = {}, logger, now = () => new Date(), clientIdPrefix, confirm, lookup, webhook } = options;
  const { reuseForMs, overdueMs, sweepMs, unmatchedAfterMs } = withDefaults(options, defaults);
  const failures = webhook?.failures;
  return {
    publicUrl: publicUrl.replace(/(?<!\/)\/+$/, ""),
    service: {
      ...service,
      ...withDefaults({ timeoutMs: service.timeoutMs }, defaults.service),
      accessToken: unprinted(service.accessToken),
    },
    signature,
    store,
    paths: withDefaults(options.paths, defaults.paths),
    webhook: {
      ...withDefaults(webhook, defaults.webhook),
      failures: failures === false ? undefined : withDefaults(failures, defaults.failures),
    },
    spool: spoolOf(options.spool, store),
    health: withDefaults(options.health, defaults.health),
    returns,
    dispatch: withDefaults(options.dispatch || {}, defaults.dispatch),
    dispatches: options.dispatch !== false,
    reuseForMs,
    overdueMs,
    sweepMs,
    unmatchedAfterMs,
    clientIdPrefix,
    lookup: lookup ? withDefaults(lookup === true ? {} : lookup, defaults.lookup) : undefined,
    confirm,
    logger,
    now,
  };
}

function spoolOf(
  spool: SpoolDirectoryOptions | false | undefined,
  { spoolDirectory }: Pick<PaymentStore, "spoolDirectory">,
): ResolvedOptions["spool"] {
  if (spool === false) return undefined;
  const directory = spool?.directory ?? spoolDirectory;
  if (directory === undefined) return undefined;
  return { directory, ...withDefaults({ maxBytes: spool?.maxBytes }, defaults.spool) };
}

/** Returns the defaults with the given values over them. `undefined` counts as absent. */
function withDefaults<T extends object>(given: object | undefined, known: T): T {
  return { ...known, ...withoutUndefined(given ?? {}) };
}
