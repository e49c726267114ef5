import { type ReturnOptions, type SpoolDirectoryOptions, type PaymentsOptions } from "./options.js";
import { problemsOf } from "./option-problems.js";
import { defaults } from "./defaults.js";
import { type Logger } from "pino";
import { ConfigurationError } from "../../errors/index.js";
import { resolveLookupOptions, type ResolvedLookupOptions } from "./lookup-options.js";
import { unprinted } from "../../service/access-token.js";
import { type PaymentServiceOptions } from "../../service/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type SignedField } from "../../model/signed-fields.js";
import { type PaymentStore } from "../../store/index.js";

/** The options with nothing left open. */
export interface ResolvedOptions<
  Covers extends SignedField = SignedField,
  Tx = unknown,
> extends ResolvedLookupOptions {
  publicUrl: string;
  service: PaymentServiceOptions;
  signature: SignatureScheme<Covers>;
  store: PaymentStore<Tx>;
  webhook: typeof defaults.webhook & { failures: typeof defaults.failures | undefined };
  spool: { directory: string; maxBytes: number } | undefined;
  returns: ReturnOptions;
  dispatch: typeof defaults.dispatch;
  dispatches: boolean;
  reuseForMs: number;
  overdueMs: number;
  sweepMs: number;
  logger: Logger | false | undefined;
  now: () => Date;
}

/** Fills in the defaults. Throws a {@link ConfigurationError} with everything that is wrong at once. */
export function resolveOptions<Covers extends SignedField, Tx>(
  options: PaymentsOptions<Covers, Tx>,
  environment: NodeJS.ProcessEnv = process.env,
): ResolvedOptions<Covers, Tx> {
  const problems = problemsOf(options, environment);
  const { publicUrl, service, signature, store, returns = {}, logger, now = () => new Date() } = options;
  if (problems.length > 0 || publicUrl === undefined || !signature || !store) {
    throw new ConfigurationError(problems);
  }
  const { reuseForMs, overdueMs, sweepMs } = withDefaults(pickDefined(options), defaults);
  const { failures } = options.webhook ?? {};
  return {
    publicUrl: publicUrl.replace(/\/+$/, ""),
    service: { ...service, accessToken: unprinted(service.accessToken) },
    signature,
    store,
    webhook: {
      ...withDefaults(options.webhook, defaults.webhook),
      failures: failures === false ? undefined : withDefaults(failures, defaults.failures),
    },
    spool: spoolOf(options.spool, store),
    returns,
    dispatch: withDefaults(options.dispatch || {}, defaults.dispatch),
    dispatches: options.dispatch !== false,
    reuseForMs,
    overdueMs,
    sweepMs,
    ...resolveLookupOptions(options),
    logger,
    now,
  };
}

export function spoolOf(
  spool: SpoolDirectoryOptions | false | undefined,
  { spoolDirectory }: Pick<PaymentStore, "spoolDirectory">,
): ResolvedOptions["spool"] {
  if (spool === false) return undefined;
  const directory = spool?.directory ?? spoolDirectory;
  return directory === undefined
    ? undefined
    : { directory, ...withDefaults({ maxBytes: spool?.maxBytes }, defaults.spool) };
}

export function withDefaults<T extends object>(given: object | undefined, known: T): T {
  return { ...known, ...pickDefined(given ?? {}) };
}

/** `undefined` means absent. */
export function pickDefined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
