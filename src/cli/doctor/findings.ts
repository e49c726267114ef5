import { errorFixes } from "../../errors/index.js";
import { type Finding, type Severity } from "../terminal/finding.js";

/** The fix for each code of `tillkit doctor`. Codes never change. `docs/doctor.md` has a row for each. */
export const doctorFixes = {
  // The environment.
  secret_missing: "Set the variable that the app reads to the webhook secret from the service.",
  secret_too_short:
    "Use the secret exactly as the service issued it: an attacker can guess a secret of fewer than 16 bytes.",
  secret_placeholder: errorFixes.secret_placeholder,
  secret_padded: "Remove the spaces, line breaks and quotes before and after the secret.",
  secret_weak: "Ask the service for a secret of 32 bytes or more.",
  key_invalid:
    "Set TILLKIT_PUBLIC_KEY to the service's public key as PEM text, for the configured algorithm.",
  configuration_invalid: "Set the variable as the message says. Until then, the kit does not start.",
  sandbox_credential_in_production: "Replace the sandbox's credentials with those of the real service.",
  service_url_local: "Set the address of the real service.",
  service_unreachable:
    "If the address belongs to the sandbox, start the sandbox. For a real service, check the address, DNS, the " +
    "proxy, the firewall and the certificate.",
  node_env_not_production:
    "Set NODE_ENV=production. Without this setting, the kit accepts the sandbox's credentials and stores that lose data.",
  refused_webhooks_mismatch:
    "If the service sent these webhooks, the secret or the scheme is wrong: run the command in the message. If " +
    "somebody else sent these webhooks, do nothing.",
  refused_webhooks_kept:
    "Run the command in the message. When you know the cause, remove TILLKIT_KEEP_REFUSED and the directory.",

  // The public address.
  public_url_invalid:
    "Set publicUrl to the address of the payment router, such as https://shop.example/payments.",
  public_url_insecure: "Use https, because others can read and change plain http requests.",
  public_url_local: "Set publicUrl to the address that the service uses to reach the shop from outside.",
  public_url_wrong:
    "Set publicUrl to the payment router's address from outside, and register {publicUrl}/webhook at the service.",
  public_url_unreachable:
    "Try the address from another network. If the address also fails there, check DNS, the proxy and the firewall.",
  certificate_invalid: "Renew or correct the certificate. The service will also refuse to connect.",

  // The running app.
  app_unreachable: "Start the app, and give the address on which the app listens.",
  webhook_not_mounted:
    "Mount the payment router at this address, before the handler that answers now. If the address is wrong, give " +
    "another one with --url or --webhook.",
  webhook_redirected: "Answer webhooks without a redirect, because the service may not follow redirects.",
  webhook_blocked:
    "Mount the payment router before the middleware that refuses the webhook, or let this middleware exclude the " +
    "router's path.",
  webhook_body_limited:
    "Raise the body limit for the webhook's address to 64 KiB, in the app and in the proxy.",
  webhook_type_refused: "Accept the type application/json, with and without a charset.",
  webhook_hangs: "Look for a middleware in front of the router that reads the body or never calls next().",
  webhook_fails: "Look for this request's error in the app's log.",
  webhook_throttled:
    'Wait a minute and try again. If nobody tried signatures from this machine, set Express\'s "trust proxy". Without ' +
    "this setting, all senders share the proxy's address.",
  raw_body_consumed: errorFixes.raw_body_consumed,
  raw_body_rewritten:
    "Verify the received bytes. Remove the code that sets rawBody or body to JSON that was parsed and written again.",
  signature_not_checked:
    "Verify the signature of every webhook before anything else, and answer 401 if the signature does not match.",
  secret_differs:
    "Give the app the same secret, and restart the app. The app may still use an old secret, or read another variable.",
  scheme_differs:
    "Configure the same scheme, fields, algorithm and header in the app and in the environment.",
  unknown_topic_refused:
    "Answer every correctly signed webhook with 200, because the service may stop sending webhooks to an address that " +
    "refuses one.",
  record_unavailable:
    "Fix the database; the app's log has the error. Until then, the app answers webhooks with 503.",
  answer_altered:
    "Find the middleware or the proxy that changes the router's answers, and exclude the router's path.",
  proxy_not_trusted:
    "Set Express's \"trust proxy\" to the proxy's address, so that the app sees which requests came over https.",
  server_timeout_short:
    "Allow at least some seconds for a body: raise server.requestTimeout and the proxy's time limits.",
  return_blocked: "Allow customers to open the success and cancel addresses without a login.",
  return_page_altered:
    "Find the middleware or the proxy that changes pages or headers, and exclude the return addresses. The script of " +
    "a return page runs only with the page's own headers.",
  clock_off: "Synchronise the machine's clock with NTP.",

  // The store.
  store_unnamed:
    "If the code sets the store, name the database with --store. If not, set TILLKIT_DATABASE, because the kit does " +
    "not start without a store.",
  store_invalid: "Give a SQLite file, or a postgres:// or mysql:// address.",
  store_unavailable: errorFixes.store_unavailable,
  database_unencrypted:
    "Add sslmode=verify-full to a PostgreSQL address, or ssl={} to a MySQL address. Without TLS, others on the " +
    "network can read the password, and read and change all data.",
  driver_missing: "Install the driver that the message names, in the same project as tillkit.",
  schema_missing:
    "Give the database that the app uses. The kit creates its tables in that database when the app starts.",
  schema_behind: 'Run "tillkit migrate", or restart the app with the new version.',
  schema_too_new: "Upgrade this tillkit, because a newer tillkit made the tables.",
  store_not_durable: "Use a database that keeps committed data.",
  store_on_memory_disk:
    "Move the file or the directory to a disk that keeps its files after a restart. In a container, use a volume.",
  store_on_network_disk:
    "Move the file or the directory to a local disk, because SQLite's locks and log do not work over a network.",
  spool_unavailable:
    "Do what the message says. The app's user must own the spool's directory, and nobody else may write to it. The " +
    "directory must contain its file key.",
  sqlite_version_affected:
    "Upgrade SQLite to 3.51.3, 3.50.7 or 3.44.6. Until then, the kit is safe but slower.",
  replication_asynchronous: errorFixes.replication_asynchronous,
  database_refused: errorFixes.database_refused,
  database_unexamined: errorFixes.database_unexamined,
  database_pooled:
    "Set preparedStatements=false in the address, or let the pooler support prepared statements, such as PgBouncer 1.21 " +
    "or newer with max_prepared_statements: see docs/failover.md.",
  database_clock_off: "Synchronise the clock of the database's machine with NTP.",

  // The installation.
  node_unsupported: "Run a version of Node that tillkit supports.",
  express_missing: 'Run "npm install express" in the app.',
  express_unsupported: "Install a version of Express that tillkit supports.",
  kit_twice:
    'Run "npm dedupe", or require a single version. One copy cannot read the bodies that the other copy captured.',
} as const;

export type DoctorCode = keyof typeof doctorFixes;

const lessThanErrors: Partial<Record<DoctorCode, Severity>> = {
  secret_weak: "warning",
  refused_webhooks_mismatch: "warning",
  refused_webhooks_kept: "warning",
  node_env_not_production: "warning",
  public_url_unreachable: "warning",
  webhook_throttled: "warning",
  unknown_topic_refused: "warning",
  answer_altered: "warning",
  return_page_altered: "warning",
  store_unnamed: "warning",
  schema_behind: "warning",
  sqlite_version_affected: "note",
  replication_asynchronous: "warning",
  database_unexamined: "warning",
  database_pooled: "note",
  database_clock_off: "warning",
  database_unencrypted: "warning",
};

/** Returns the default severity of a finding. */
export function severityOf(code: DoctorCode): Severity {
  return lessThanErrors[code] ?? "error";
}

/** Creates a finding. The message says what was seen. */
export function finding(code: DoctorCode, message: string, severity = severityOf(code)): Finding {
  return { code, severity, message, fix: doctorFixes[code] };
}

/** The findings of a check, one after the other. */
export type Findings = Generator<Finding, void>;
export type AsyncFindings = AsyncGenerator<Finding, void>;
