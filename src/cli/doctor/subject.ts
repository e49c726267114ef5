import { statSync } from "node:fs";
import path from "node:path";
import { ConfigurationError } from "../../errors/index.js";
import { makeScheme } from "../sign/make-scheme.js";
import { readSignatureSettings, type SignatureSettings } from "../sign/signature-settings.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments, type Context, type Variables, type InputContext } from "../terminal/command.js";
import { findDatabase, type NamedDatabase } from "../terminal/database.js";
import { type WebhookReplies } from "./probe-webhook.js";

/** The app that the doctor examines, as the options and the environment describe it. */
export interface DoctorSubject {
  /** The address of the payment router; `undefined` with `--webhook`, or if no address is known. */
  mount: string | undefined;
  /** The address of webhooks; `undefined` if no address is known. */
  webhook: string | undefined;
  publicUrl: string | undefined;
  settings: SignatureSettings;
  database: NamedDatabase | undefined;
  /** The folder for relative paths in options. */
  cwd: string;
  /** The folder of the app, as an absolute path. Relative paths in variables start from this folder. */
  app: string;
  environment: Variables;
  /** The files of `--env-file`, for the commands in messages. */
  envFiles: readonly string[];
  isProduction: boolean;
  /** Whether the environment, the database and the installation are left out. */
  outside: boolean;
  /** Whether the app and the service are left out, because they are not started yet. */
  beforeStart: boolean;
  /** Whether correctly signed webhooks may be sent. */
  signs: boolean;
  now: () => Date;
}

/** A subject, and the replies of its webhook's address. */
export interface ProbedSubject extends DoctorSubject {
  /** The replies of the webhook's address; `undefined` if no address is known. */
  replies: WebhookReplies | undefined;
  /** Whether the kit answers at the webhook's address. */
  isKit: boolean;
}

/**
 * Reads the subject. Throws `command_option_invalid` if `--url` or `--webhook` is not an address, if the
 * folder of `--app` does not exist, or if options exclude each other.
 */
export async function readSubject(args: Arguments, context: Context): Promise<DoctorSubject> {
  const outside = args.has("outside");
  const { stdin, cwd, output, now } = context;
  const environment = outside ? {} : context.env;
  const input: InputContext = { stdin, cwd, output, env: environment };
  const publicUrl = args.get("public-url") ?? (environment["TILLKIT_PUBLIC_URL"]?.trim() || undefined);
  if (args.has("url") && args.has("webhook")) throw optionError("Give either --url or --webhook.");
  for (const name of ["url", "webhook"]) {
    const address = args.get(name);
    if (address !== undefined && !isHttp(address))
      throw optionError(`--${name} must be an address such as http://localhost:3000/payments.`);
  }
  const { search = "", hash = "" } = args.has("url") ? new URL(args.get("url")!) : {};
  if (search !== "" || hash !== "")
    throw optionError("--url must be the router's address without a query or a fragment.");
  const app = path.resolve(cwd, args.get("app") ?? ".");
  if (!statSync(app, { throwIfNoEntry: false })?.isDirectory())
    throw optionError(`There is no folder ${app}: --app must name the folder of the app.`);
  const beforeStart = args.has("before-start");
  if (beforeStart && ["url", "webhook", "outside"].some((name) => args.has(name)))
    throw optionError(
      "With --before-start, no app runs that could answer: leave out --url, --webhook and --outside.",
    );
  const settings = await readSignatureSettings(args, input);
  refuseWrongScheme(args, settings);
  // `checkPublicUrl` reports an invalid public address, so this function ignores it.
  const router = beforeStart
    ? undefined
    : (args.get("url") ?? (publicUrl !== undefined && isHttp(publicUrl) ? publicUrl : undefined));
  // If --url is the webhook's address, the router's address is the part before /webhook.
  const mount = args.has("webhook")
    ? undefined
    : router?.replace(/(?<!\/)\/+$/, "").replace(/\/webhook$/, "");
  return {
    mount,
    webhook: args.get("webhook") ?? (mount === undefined ? undefined : `${mount}/webhook`),
    publicUrl,
    settings,
    database: outside ? undefined : findDatabase(args, input, app),
    cwd,
    app,
    environment,
    envFiles: args.all("env-file"),
    isProduction: environment["NODE_ENV"] === "production",
    outside,
    beforeStart,
    signs: !outside && !args.has("unsigned-only"),
    now,
  };
}

/** Throws `command_option_invalid` for an option with which the kit would not start. */
function refuseWrongScheme(args: Arguments, settings: SignatureSettings): void {
  if (!["algorithm", "fields", "header", "merchant-id"].some((name) => args.has(name))) return;
  try {
    makeScheme(settings);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // The checks of the environment report a wrong secret or key.
    const wrong = error.problems.find(({ option }) => !/^signature\.(secret|publicKey)/.test(option));
    if (wrong) throw optionError(`The kit would not start: ${wrong.option} ${wrong.message}`);
  }
}

/** Returns whether a text is a valid http or https address. */
export function isHttp(address: string): boolean {
  return URL.canParse(address) && /^https?:/i.test(address);
}
