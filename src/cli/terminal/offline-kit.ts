import { createPayments, hmacSignature, type Payments } from "../../index.js";
import { sqlStore } from "../../store/sql/index.js";
import { type Arguments, type InputContext } from "./command.js";
import { requireTables } from "./database.js";

/**
 * Opens a kit without network and handlers on the database that the options name. It decides webhooks as the application's
 * own kit does. Throws `store_unavailable` if the database has no tables of the kit.
 */
export async function openOfflineKit(args: Arguments, context: InputContext): Promise<Payments> {
  const { database, tablePrefix } = await requireTables(args, context);
  const read = (name: string): string | undefined => context.env[`TILLKIT_${name}`]?.trim() || undefined;
  const confirm = read("CONFIRM") === "lookup" ? ("lookup" as const) : undefined;
  return createPayments({
    publicUrl: "http://localhost/payments",
    service: { baseUrl: "http://localhost", accessToken: "none" },
    // Required by the kit, and never used: this process receives no webhooks.
    signature: hmacSignature({ secret: crypto.randomUUID() }),
    store: sqlStore(database, { tablePrefix }),
    clientIdPrefix: read("CLIENT_ID_PREFIX"),
    ...(confirm && { confirm, lookup: true }),
    dispatch: false,
    spool: false,
    logger: false,
  });
}
