import { type Finding, type Severity } from "../terminal/finding.js";

interface Known {
  /** As it is unless a check has a reason for another. */
  severity: Severity;
  fix: string;
}

/** Everything that `tillkit doctor` can find. Codes are added, never renamed; `docs/doctor.md` has an entry for each. */
export const doctorFindings = {
  // The environment.
  secret_missing: error("Set the webhook secret that the service issued, under the name that the app reads."),
  secret_too_short: error("Use the secret as the service issued it; under 16 bytes it can be guessed."),
  secret_placeholder: error("Replace the placeholder with the secret that the service issued."),
  secret_padded: error("Set the secret without the space or line break around it."),
  secret_weak: warning("Ask the service for a secret of 32 bytes or more."),
  key_invalid: error(
    "Set TILLKIT_PUBLIC_KEY to the service's public key as PEM text, of the configured algorithm.",
  ),
  configuration_invalid: error("Set the variable as the message says; the kit does not start before."),
  sandbox_credential_in_production: error(
    "Replace the sandbox's credentials with those of the real service.",
  ),
  service_url_local: error("Set the address of the real service."),
  node_env_not_production: warning(
    "Set NODE_ENV=production: without it the kit accepts the sandbox's credentials and stores that forget.",
  ),

  // Where the service, and customers, reach the app.
  public_url_invalid: error(
    "Set publicUrl to the address of the router's mount, such as https://shop.example/payments.",
  ),
  public_url_insecure: error("Use https: what travels in clear can be read, and changed, on the way."),
  public_url_local: error(
    "Set publicUrl to the address under which the service reaches the shop from outside.",
  ),
  public_url_wrong: error(
    "Make publicUrl name the place where the router is mounted, as it is seen from outside, and register {publicUrl}/webhook.",
  ),
  public_url_unreachable: warning(
    "Try it from another network. If it cannot be reached there either, look at DNS, the proxy and the firewall.",
  ),
  certificate_invalid: error("Renew or correct the certificate: the service, too, will refuse to connect."),

  // The webhook's address.
  app_unreachable: error("Start the app, and name the address on which it listens."),
  webhook_not_mounted: error(
    "Mount the router there, before what answers instead; or name the right address with --url or --webhook.",
  ),
  webhook_redirected: error(
    "Let the webhook's address answer by itself: the service need not follow redirects.",
  ),
  webhook_blocked: error(
    "Mount the payment router before the middleware that asks for a login, a CSRF token or a browser, or except its path.",
  ),
  webhook_body_limited: error(
    "Raise the limit for the webhook's address, in the app and in the proxy, to 64 KiB.",
  ),
  webhook_type_refused: error("Let application/json pass, with and without a charset."),
  webhook_hangs: error(
    "Look for a middleware in front of the router that reads the body or never calls next(); the log shows no request then.",
  ),
  webhook_fails: error("Look into the app's log for the error of this request."),
  webhook_throttled: warning(
    'Wait a minute and try again. If nobody tried signatures from here, set Express\'s "trust proxy": all senders share ' +
      "the proxy's address.",
  ),
  raw_body_consumed: error(
    "Mount the payment router before the JSON parser, or pass `verify: captureRawBody` to that parser.",
  ),
  raw_body_rewritten: error(
    "Verify the bytes that arrived: remove what fills rawBody or body with a JSON that was written again.",
  ),
  signature_not_checked: error(
    "Verify the signature of every webhook before anything else, and answer 401 where it does not match.",
  ),
  secret_differs: error(
    "Give the app the same secret, and restart it: it may still run with an old one, or read another variable.",
  ),
  scheme_differs: error("Configure the same scheme, fields and algorithm in the app and in the environment."),
  unknown_topic_refused: warning(
    "Answer correctly signed webhooks of unknown topics with 200: a sender may disable an address that refuses.",
  ),
  record_unavailable: error(
    "Mend the database, and see the app's log; until then webhooks are answered 503.",
  ),
  answer_altered: warning(
    "Find out what changes the answers of the router on their way, and except its path.",
  ),
  proxy_not_trusted: error(
    "Set Express's \"trust proxy\" to the proxy's address, so that the app knows which requests came over https.",
  ),
  server_timeout_short: error(
    "Give a body at least some seconds: raise server.requestTimeout and the proxy's limits.",
  ),
  return_blocked: error("Let customers reach the success and cancel addresses without a login."),
  return_page_altered: warning(
    "Except the return addresses from what changes pages or headers: their script runs by the nonce of its policy only.",
  ),
  clock_off: error("Let the machine keep its clock by NTP."),

  // The store.
  store_invalid: error("Name a SQLite file, or a postgres:// or mysql:// address."),
  store_unavailable: error("Start the database, or correct its address and its rights."),
  driver_missing: error("Install the driver that the message names, beside tillkit."),
  schema_missing: error(
    "Name the database that the app uses: where the kit runs, it makes its tables there.",
  ),
  schema_behind: warning('Run "tillkit migrate", or restart the app with the new version.'),
  schema_too_new: error("Upgrade this tillkit: the tables were made by a newer one."),
  store_not_durable: error("Use a database that keeps what it has committed."),
  store_on_memory_disk: error(
    "Move it to a disk that outlives the machine's restart; in a container, to a volume.",
  ),
  store_on_network_disk: error(
    "Move it to a local disk: SQLite's locks and its log do not work over a network.",
  ),
  sqlite_version_affected: note(
    "Upgrade SQLite to 3.51.3, 3.50.7 or 3.44.6; until then the kit is slower, and safe.",
  ),
  database_clock_off: warning("Let the database's machine keep its clock by NTP."),

  // What is installed.
  node_unsupported: error("Run a version of Node that tillkit supports."),
  express_missing: error('Run "npm install express" in the app.'),
  express_unsupported: error("Install a version of Express that tillkit supports."),
  kit_twice: error(
    'Run "npm dedupe", or ask for one version: what one copy keeps (captureRawBody), the other does not see.',
  ),
} satisfies Record<string, Known>;

export type DoctorCode = keyof typeof doctorFindings;

/** A finding of this kind, with what was seen. */
export function found(code: DoctorCode, message: string, severity?: Severity): Finding {
  const known: Known = doctorFindings[code];
  return { code, severity: severity ?? known.severity, message, fix: known.fix };
}

function error(fix: string): Known {
  return { severity: "error", fix };
}

function warning(fix: string): Known {
  return { severity: "warning", fix };
}

function note(fix: string): Known {
  return { severity: "note", fix };
}
