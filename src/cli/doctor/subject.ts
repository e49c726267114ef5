import { type Context, type Arguments } from "../terminal/command.js";
import { TillkitError } from "../../errors/index.js";
import { findDatabase, type FoundDatabase } from "../terminal/database.js";
import { type Environment, readEnvironment } from "../terminal/environment.js";
import { readSignatureSettings, type SignatureSettings } from "../sign/signature-settings.js";
import path from "node:path";

/** What the doctor was told, and where to look. */
export interface Patient {
  /** Where the router is mounted; absent for an app that has none. */
  mount: string | undefined;
  /** Where webhooks are posted to; absent where no address is known at all. */
  webhook: string | undefined;
  /** Whether the two were named, and not only taken from the public address. */
  isNamed: boolean;
  publicUrl: string | undefined;
  settings: SignatureSettings;
  database: FoundDatabase | undefined;
  /** The folder of the app, as an absolute path. */
  app: string;
  environment: Environment;
  production: boolean;
  /** Only what a stranger sees: nothing of the environment is looked at. */
  outside: boolean;
  /** Whether correctly signed webhooks may be sent. */
  signs: boolean;
  now: () => Date;
}

/** @throws TillkitError `command_option_invalid` for an address that is none. */
export async function readPatient(args: Arguments, context: Context): Promise<Patient> {
  const outside = args.has("outside");
  const environment = outside ? {} : await readEnvironment(args, context);
  const publicUrl = args.get("public-url") ?? (environment["TILLKIT_PUBLIC_URL"]?.trim() || undefined);
  const named = args.get("url") ?? args.get("webhook");
  if (args.has("url") && args.has("webhook"))
    throw new TillkitError("command_option_invalid", "Give either --url or --webhook.");
  for (const name of ["url", "webhook"]) requireAddress(`--${name}`, args.get(name));
  // What is wrong with it is a finding of its own.
  const mount = args.has("webhook") ? undefined : trimmed(named ?? usable(publicUrl));
  const webhook = args.get("webhook") ?? (mount === undefined ? undefined : `${mount}/webhook`);
  return {
    mount,
    webhook,
    isNamed: named !== undefined,
    publicUrl,
    settings: await readSignatureSettings(args, context, environment),
    database: outside ? undefined : findDatabase(args, environment, context),
    app: path.resolve(context.cwd, args.get("app") ?? "."),
    environment,
    production: environment["NODE_ENV"] === "production",
    outside,
    signs: !outside && !args.has("unsigned-only"),
    now: context.now,
  };
}

/** Whoever gives the webhook's address means its router. */
function trimmed(address: string | undefined): string | undefined {
  return address?.replace(/\/+$/, "").replace(/\/webhook$/, "");
}

function usable(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) && /^https?:/i.test(address) ? address : undefined;
}

function requireAddress(option: string, address: string | undefined): void {
  if (address === undefined || usable(address) !== undefined) return;
  throw new TillkitError(
    "command_option_invalid",
    `${option} must be an address such as http://localhost:3000/payments.`,
  );
}
