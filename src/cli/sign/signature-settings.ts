import { TillkitError } from "../../errors/index.js";
import { defaultSignedFields, type ListedField } from "../../webhook/signature/index.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments, type Variables, type InputContext } from "../terminal/command.js";
import { envFileOption, readText } from "../terminal/read-file.js";

/** The options that say how a signature is made, for `sign`, `verify`, `trigger`, `replay` and `doctor`. */
export const signatureOptions = {
  "--scheme <hmac|fields|public-key>":
    "The signature scheme: hmac signs the whole body, fields signs some fields, and public-key signs the body with a " +
    "private key. Default: TILLKIT_SIGNATURE, or hmac (fields if --merchant-id or --fields is given).",
  "--secret <text> ...":
    "The secret. Other users can see this option in the process list: prefer --secret-file or --secret-env.",
  "--secret-file <file> ...":
    "A file that contains the secret. A line break at the end of the file is not part of the secret.",
  "--secret-env <name> ...":
    "The variable that contains the secret. Default: TILLKIT_WEBHOOK_SECRET and TILLKIT_WEBHOOK_SECRET_PREVIOUS.",
  "--merchant-id <id>": "With --scheme fields: your identifier at the service. Default: TILLKIT_MERCHANT_ID.",
  "--fields <list>":
    "With --scheme fields: the signed fields in order, separated by commas. Default: the kit's own list.",
  "--algorithm <name>":
    "The algorithm: sha256, sha384 or sha512; with --scheme public-key: ed25519, ecdsa-sha256, ecdsa-sha384, " +
    "ecdsa-sha512, rsa-sha256 or rsa-pss-sha256. Default: TILLKIT_SIGNATURE_ALGORITHM, or sha256.",
  "--header <name>":
    "The name of the signature header. Default: TILLKIT_SIGNATURE_HEADER, or Service-Signature.",
  ...envFileOption,
};

/** The options of commands that only verify. */
export const verifyingOptions = {
  ...signatureOptions,
  "--public-key <file>":
    "With --scheme public-key: the service's public key as PEM. Default: TILLKIT_PUBLIC_KEY.",
};

/** The settings with which signatures are made and verified. */
export interface SignatureSettings {
  scheme: "hmac" | "fields" | "public-key";
  /** The secrets, with the places where they were found. The first secret signs. The list may be empty. */
  secrets: readonly { text: string; from: string }[];
  /** The variables that were searched for a secret. */
  secretVariables: readonly string[];
  environment: Variables;
  merchantId: string | undefined;
  fields: readonly ListedField[];
  /**
   * The algorithm, which the scheme checks later. `undefined` only for `public-key`, whose key determines it.
   */
  algorithm: string | undefined;
  header: string;
  /** The service's public key as PEM text. */
  publicKey: string | undefined;
}

/** Reads the settings from the options. For a missing option, the kit's variable is read. */
export async function readSignatureSettings(
  args: Arguments,
  context: InputContext,
): Promise<SignatureSettings> {
  const { env: environment } = context;
  if (args.has("secret"))
    context.output.log(
      "warning secret_on_command_line: others can see --secret in the process list and in the shell's history; use " +
        "--secret-file or --secret-env instead.",
    );
  const read = (name: string): string | undefined => environment[`TILLKIT_${name}`]?.trim() || undefined;
  const named = args.all("secret-env");
  const secretVariables = named.length > 0 ? named : usualVariables;
  const fields = args.get("fields")?.split(",");
  const implied = fields || args.has("merchant-id") ? "fields" : "hmac";
  const scheme = (args.get("scheme") ?? read("SIGNATURE") ?? implied) as SignatureSettings["scheme"];
  const usualAlgorithm = scheme === "public-key" ? undefined : "sha256";
  return {
    scheme,
    secrets: await readGivenSecrets(args, context, secretVariables),
    secretVariables,
    environment,
    merchantId: args.get("merchant-id") ?? read("MERCHANT_ID"),
    fields: fields ? (fields.map((name) => name.trim()) as ListedField[]) : defaultSignedFields,
    algorithm: args.get("algorithm") ?? read("SIGNATURE_ALGORITHM") ?? usualAlgorithm,
    header: args.get("header") ?? read("SIGNATURE_HEADER") ?? "Service-Signature",
    publicKey: read("PUBLIC_KEY")?.replaceAll("\\n", "\n"),
  };
}

const schemes: readonly string[] = ["hmac", "fields", "public-key"] satisfies SignatureSettings["scheme"][];

const usualVariables = ["TILLKIT_WEBHOOK_SECRET", "TILLKIT_WEBHOOK_SECRET_PREVIOUS"];

async function readGivenSecrets(
  args: Arguments,
  context: InputContext,
  variables: readonly string[],
): Promise<SignatureSettings["secrets"]> {
  const found: { text: string; from: string }[] = [];
  const given = args.all("secret");
  for (const [index, text] of given.entries())
    found.push({ text, from: given.length > 1 ? `--secret (${index + 1}.)` : "--secret" });
  for (const file of args.all("secret-file")) {
    const text = (await readText(file, context)).replace(/\r?\n$/, "");
    found.push({ text, from: `the file ${file}` });
  }
  for (const name of found.length > 0 ? args.all("secret-env") : variables)
    if (context.env[name]?.trim()) found.push({ text: context.env[name], from: name });
  const unset = args.all("secret-env").find((name) => !context.env[name]?.trim());
  if (unset !== undefined && found.length > 0)
    throw optionError(`The variable ${unset} of --secret-env is not set.`);
  return found;
}

/** Returns a message that says why there is no secret, and which variable may contain a secret. */
export function whyNoSecret({ secretVariables, environment }: SignatureSettings): string {
  const [name = ""] = secretVariables;
  const similar = Object.keys(environment)
    .filter((one) => /(WEBHOOK|SIGN\w*)_SECRET$/.test(one) && environment[one])
    .map((one) => `--secret-env ${one}`);
  const hint = similar.length > 0 ? ` The secret may be in another variable: ${similar.join(", ")}.` : "";
  return `${name} is ${environment[name] === undefined ? "not set" : "blank"}.${hint}`;
}

/** Throws `command_option_invalid` for an option of another scheme, which would have no effect. */
export function refuseOptions(
  args: Arguments,
  { scheme }: Pick<SignatureSettings, "scheme">,
  needed: SignatureSettings["scheme"],
  names: readonly string[],
): void {
  const ignored = scheme === needed ? undefined : names.find((name) => args.has(name));
  if (ignored !== undefined)
    throw optionError(`--${ignored} is for the scheme ${needed}, and the scheme here is ${scheme}.`);
}

/**
 * Reads the settings. Throws `command_option_invalid` if an option or a variable is not valid, or
 * `secret_missing` if the scheme needs a secret and there is none.
 */
export async function readSettingsWithSecret(
  args: Arguments,
  context: InputContext,
): Promise<SignatureSettings> {
  const settings = await readSignatureSettings(args, context);
  if (!schemes.includes(settings.scheme))
    throw optionError(`TILLKIT_SIGNATURE must be hmac, fields or public-key, and not "${settings.scheme}".`);
  if (settings.scheme === "public-key" || settings.secrets.length > 0) return settings;
  throw new TillkitError("secret_missing", `There is no secret: ${whyNoSecret(settings)}`, {
    fix:
      "Give --secret-file, --secret-env or --secret, set TILLKIT_WEBHOOK_SECRET, or name the file that sets this " +
      "variable: --env-file .env.",
  });
}

/** Reads the settings of a command with `verifyingOptions`. Throws as `readSettingsWithSecret` does. */
export async function readVerifyingSettings(
  args: Arguments,
  context: InputContext,
): Promise<SignatureSettings> {
  const settings = await readSettingsWithSecret(args, context);
  refuseOptions(args, settings, "public-key", ["public-key"]);
  const keyFile = args.get("public-key");
  return keyFile === undefined ? settings : { ...settings, publicKey: await readText(keyFile, context) };
}
