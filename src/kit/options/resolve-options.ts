import { ConfigurationError } from "../../errors/index.js";
import { type SignedField } from "../../model/signed-fields.js";
import { unprinted } from "../../service/access-token.js";
import { type PaymentServiceOptions } from "../../service/index.js";
import { requireOptions } from "../../shared/unknown-names.js";
import { type PaymentStore } from "../../store/index.js";
import { problemsOf } from "./option-problems.js";
import { type WithDefaults, fillDefaults, readGroup } from "./option-table.js";
import {
  type DispatchOptions,
  type FailureOptions,
  type HealthOptions,
  type LookupOptions,
  type PathOptions,
  type PaymentsOptions,
  type SpoolDirectoryOptions,
  type WebhookOptions,
} from "./options.js";

/** The options with all defaults filled in. */
export interface ResolvedOptions<Covers extends SignedField = SignedField, Tx = unknown>
  extends
    WithDefaults<
      Pick<
        PaymentsOptions<Covers, Tx>,
        | "publicUrl"
        | "signature"
        | "store"
        | "returns"
        | "reuseForMs"
        | "overdueMs"
        | "sweepMs"
        | "unmatchedAfterMs"
        | "attentionReminderMs"
        | "now"
      >
    >,
    Pick<PaymentsOptions, "clientIdPrefix" | "confirm" | "logger"> {
  /** The payment service. The access token is a function, so that logs do not print it. */
  service: PaymentServiceOptions & { timeoutMs: number };
  /** The router's addresses below its mount path. */
  paths: WithDefaults<PathOptions>;
  /**
   * Limits of the webhook endpoint. `failures` is `undefined` if there is no limit. `keepRefused` is the
   * directory, or `undefined`.
   */
  webhook: WithDefaults<Omit<WebhookOptions, "failures" | "keepRefused">> & {
    failures: WithDefaults<FailureOptions> | undefined;
    keepRefused: string | undefined;
  };
  /** The spool's directory and size. `undefined` if there is no spool. */
  spool: WithDefaults<SpoolDirectoryOptions> | undefined;
  /** The times after which `payments.health()` changes its status. */
  health: WithDefaults<HealthOptions>;
  /** The options of the dispatcher. */
  dispatch: WithDefaults<DispatchOptions>;
  /** Whether this process calls handlers. */
  dispatches: boolean;
  /** The times and limits of lookups. `undefined` if the kit makes no lookups. */
  lookup: WithDefaults<LookupOptions> | undefined;
}

/**
 * Checks the options, and returns them with the defaults.
 *
 * @throws ConfigurationError with every problem of the options.
 */
export function resolveOptions<Covers extends SignedField, Tx>(
  given: PaymentsOptions<Covers, Tx>,
  environment: NodeJS.ProcessEnv = process.env,
): ResolvedOptions<Covers, Tx> {
  // JavaScript may call createPayments() without options. In this case, each required option is a problem.
  requireOptions("createPayments", given ?? {}, "{ publicUrl, service, signature, store }");
  const options = readGroup("", given ?? {});
  const problems = problemsOf(options, environment);
  const { publicUrl, service, signature, store } = options;
  if (problems.length > 0 || publicUrl === undefined || !signature || !store) {
    throw new ConfigurationError(problems);
  }
  const { dispatch, lookup, returns = {}, webhook } = options;
  const { failures, keepRefused } = webhook ?? {};
  return {
    ...fillDefaults("", options),
    publicUrl: publicUrl.replace(/(?<!\/)\/+$/, ""),
    service: { ...fillDefaults("service", service), accessToken: unprinted(service.accessToken) },
    signature,
    store,
    paths: fillDefaults("paths", options.paths),
    webhook: {
      ...fillDefaults("webhook", webhook),
      failures: failures === false ? undefined : fillDefaults("webhook.failures", failures),
      keepRefused: typeof keepRefused === "object" ? keepRefused.directory : keepRefused,
    },
    spool: spoolOf(options.spool, store),
    health: fillDefaults("health", options.health),
    returns,
    dispatch: fillDefaults("dispatch", dispatch || {}),
    dispatches: dispatch !== false,
    lookup: lookup ? fillDefaults("lookup", lookup === true ? {} : lookup) : undefined,
  };
}

function spoolOf(
  spool: SpoolDirectoryOptions | false | undefined,
  { spoolDirectory }: Pick<PaymentStore, "spoolDirectory">,
): ResolvedOptions["spool"] {
  if (spool === false) return undefined;
  const directory = spool?.directory ?? spoolDirectory;
  return directory === undefined ? undefined : { ...fillDefaults("spool", spool), directory };
}
