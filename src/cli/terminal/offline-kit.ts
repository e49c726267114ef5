import {
  createPayments,
  hmacSignature,
  type Payments,
  type PaymentsOptions,
  type SignatureScheme,
} from "../../index.js";
import { type SqlPaymentStore, sqlStore } from "../../store/sql/index.js";
import { optionError } from "./arguments.js";
import { type Arguments, type ExitCode, type InputContext } from "./command.js";
import { requireTables } from "./database.js";

/** The options for decisions about webhooks. They must have the same values as in the application. */
export const policyOptions = {
  "--confirm <lookup|none>": "The application's option `confirm`. Default: TILLKIT_CONFIRM.",
  "--client-id-prefix <text>":
    'The application\'s option `clientIdPrefix`; "" if the application has no prefix. Default: TILLKIT_CLIENT_ID_PREFIX.',
} as const;

/** The end of a message about webhooks with signatures over fields, without the option `confirm`. */
export const confirmNeeded =
  "so the application may ask the service first. Give --confirm=lookup if the application sets `confirm`, or " +
  "otherwise --confirm=none.";

/** The policy by which webhooks are decided. A value is `undefined` if no option or variable sets it. */
export interface GivenPolicy {
  confirm: string | undefined;
  /** The prefix; an empty string if the application has none. */
  clientIdPrefix: string | undefined;
}

/**
 * Returns the policy of the options or the environment. Throws `command_option_invalid` if `confirm` is
 * neither `lookup` nor `none`.
 */
export function givenPolicy(args: Arguments, context: InputContext): GivenPolicy {
  // An empty variable says nothing about the application, which may set the option in code.
  const read = (name: string): string | undefined => context.env[`TILLKIT_${name}`]?.trim() || undefined;
  const confirm = args.get("confirm") ?? read("CONFIRM");
  if (confirm !== undefined && confirm !== "lookup" && confirm !== "none")
    throw optionError(`TILLKIT_CONFIRM must be lookup, or left out, and not "${confirm}".`);
  return {
    confirm,
    clientIdPrefix: args.get("client-id-prefix") ?? read("CLIENT_ID_PREFIX"),
  };
}

/** Creates a kit without a payment service. The kit's address, credentials and secret are placeholders. */
export function offlineKit(store: SqlPaymentStore, options: Partial<PaymentsOptions>): Payments {
  return createPayments({
    publicUrl: "http://localhost/payments",
    service: { baseUrl: "http://localhost", accessToken: "none" },
    signature: hmacSignature({ secret: crypto.randomUUID() }),
    store,
    logger: false,
    ...options,
  });
}

/**
 * Runs a function on a kit over the named database, and closes the kit. The kit has no payment service and no
 * handlers, and decides webhooks by `policy`. Throws `store_unavailable` if the database has no tables of the
 * kit.
 */
export async function withOfflineKit(
  args: Arguments,
  context: InputContext,
  use: (payments: Payments) => Promise<ExitCode>,
  policy = givenPolicy(args, context),
  signature?: SignatureScheme,
): Promise<ExitCode> {
  const { database, tablePrefix } = await requireTables(args, context);
  const payments = offlineKit(sqlStore(database, { tablePrefix }), {
    clientIdPrefix: policy.clientIdPrefix || undefined,
    ...(policy.confirm === "lookup" && { confirm: "lookup" as const, lookup: true }),
    ...(signature && { signature }),
    dispatch: false,
    spool: false,
  });
  try {
    return await use(payments);
  } finally {
    await payments.close();
  }
}
