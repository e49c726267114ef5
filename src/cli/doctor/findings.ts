import { errorFixes } from "../../errors/index.js";
import { type Finding, type Severity } from "../terminal/finding.js";

/** Everything that `tillkit doctor` can find, with its fix. Codes are added, never renamed; `docs/doctor.md` has a row for each. */
export const doctorFixes = {
  // The environment.
  secret_missing: "Set the webhook secret that the service issued, in the variable that the app reads.",
  secret_too_short: "Use the secret as the service issued it; under 16 bytes it can be guessed.",
  secret_placeholder: errorFixes.secret_placeholder,
  secret_padded: "Set the secret without the space or line break around it.",
  secret_weak: "Ask the service for a secret of 32 bytes or more.",
  key_invalid:
    "Set TILLKIT_PUBLIC_KEY to the service's public key as PEM text, for the configured algorithm.",
  configuration_invalid: "Set the variable as the message says; until then the kit does not start.",
  sandbox_credential_in_production: "Replace the sandbox's credentials with those of the real service.",
  service_url_local: "Set the address of the real service.",
  service_unreachable:
    "If it is the sandbox, start it. Otherwise correct the address, or let this machine reach it: DNS, proxy, firewall, certificate.",
  node_env_not_production:
    "Set NODE_ENV=production: without it the kit accepts the sandbox's credentials and stores that lose data.",
  refused_webhooks_mismatch:
    "If the service sent them, the secret or the scheme is wrong: run the command of the message. If somebody else did, do nothing.",
  refused_webhooks_kept:
    "Run the command of the message. When you know the cause, remove TILLKIT_KEEP_REFUSED and the directory.",

  // The public address.
  public_url_invalid:
    "Set publicUrl to the address of the payment router, such as https://shop.example/payments.",
  public_url_insecure: "Use https: everybody on the way can read and change plain http.",
  public_url_local: "Set publicUrl to the address at which the service reaches the shop from outside.",
  public_url_wrong:
    "Set publicUrl to the address of the payment router as it is seen from outside, and register {publicUrl}/webhook.",
  public_url_unreachable:
    "Try it from another network. If that fails too, check DNS, the proxy and the firewall.",
  certificate_invalid: "Renew or correct the certificate: the service will refuse to connect too.",

  // The running app.
  app_unreachable: "Start the app, and give the address on which it listens.",
  webhook_not_mounted:
    "Mount the router there, before the handler that answers instead; or give the right address with --url or --webhook.",
  webhook_redirected:
    "Answer at the webhook's address without a redirect: the service may not follow redirects.",
  webhook_blocked:
    "Mount the payment router before the middleware that asks for a login, a CSRF token or a browser, or exclude its path.",
  webhook_body_limited: "Raise the limit for the webhook's address, in the app and in the proxy, to 64 KiB.",
  webhook_type_refused: "Accept application/json, with and without a charset.",
  webhook_hangs:
    "Look for a middleware before the router that reads the body or never calls next(); the log has no request then.",
  webhook_fails: "Look in the app's log for the error of this request.",
  webhook_throttled:
    'Wait a minute and try again. If nobody tried signatures from here, set Express\'s "trust proxy": without it all ' +
    "senders share the proxy's address.",
  raw_body_consumed: errorFixes.raw_body_consumed,
  raw_body_rewritten:
    "Verify the bytes that arrived: remove the code that sets rawBody or body to JSON that was written again.",
  signature_not_checked:
    "Verify the signature of every webhook before anything else, and answer 401 if it does not match.",
  secret_differs:
    "Give the app the same secret, and restart it: it may still run with an old one, or read another variable.",
  scheme_differs:
    "Configure the same scheme, fields, algorithm and header in the app and in the environment.",
  unknown_topic_refused:
    "Answer correctly signed webhooks of unknown topics with 200: a sender may disable an address that refuses.",
  record_unavailable: "Fix the database, and read the app's log; until then webhooks are answered with 503.",
  answer_altered: "Find out what changes the answers of the router on their way, and exclude its path.",
  proxy_not_trusted:
    "Set Express's \"trust proxy\" to the proxy's address, so that the app knows which requests came over https.",
  server_timeout_short:
    "Give a body at least some seconds: raise server.requestTimeout and the proxy's limits.",
  return_blocked: "Let customers reach the success and cancel addresses without a login.",
  return_page_altered:
    "Exclude the return addresses from everything that changes pages or headers: their script runs only with the nonce of " +
    "their policy.",
  clock_off: "Synchronise the machine's clock by NTP.",

  // The store.
  store_unnamed:
    "Name the database with --store if the code gives the store. Otherwise set TILLKIT_DATABASE: the kit does not start.",
  store_invalid: "Give a SQLite file, or a postgres:// or mysql:// address.",
  store_unavailable: errorFixes.store_unavailable,
  database_unencrypted:
    "Add sslmode=verify-full to the address of PostgreSQL, or ssl={} to that of MySQL: everybody on the way can read and " +
    "change what is sent, the password too.",
  driver_missing: "Install the driver that the message names, beside tillkit.",
  schema_missing: "Give the database that the app uses: the kit creates its tables there when it starts.",
  schema_behind: 'Run "tillkit migrate", or restart the app with the new version.',
  schema_too_new: "Upgrade this tillkit: the tables were made by a newer one.",
  store_not_durable: "Use a database that keeps what it has committed.",
  store_on_memory_disk: "Move it to a disk that keeps its files at a restart; in a container, to a volume.",
  store_on_network_disk: "Move it to a local disk: SQLite's locks and its log do not work over a network.",
  spool_unavailable:
    "Do what the message says. Otherwise give the directory of the spool to the user of the app, let nobody else write to it, and " +
    "keep its file key.",
  sqlite_version_affected:
    "Upgrade SQLite to 3.51.3, 3.50.7 or 3.44.6; until then the kit is slower, and safe.",
  replication_asynchronous: errorFixes.replication_asynchronous,
  database_refused: errorFixes.database_refused,
  database_unexamined: "Run the exam on it before you use it, see docs/stores.md.",
  database_clock_off: "Synchronise the clock of the database's machine by NTP.",

  // What is installed.
  node_unsupported: "Run a version of Node that tillkit supports.",
  express_missing: 'Run "npm install express" in the app.',
  express_unsupported: "Install a version of Express that tillkit supports.",
  kit_twice:
    'Run "npm dedupe", or require one version: a body that one copy captures (captureRawBody) is unknown to the other.',
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
  database_clock_off: "warning",
  database_unencrypted: "warning",
};

/** Returns the severity that a finding has unless a check gives another. */
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
