import { TillkitError } from "../../errors/index.js";
import { defaultSignedFields, type ListedField } from "../../webhook/signature/index.js";
import { type Context, type Arguments } from "../terminal/command.js";
import { type Environment } from "../terminal/environment.js";
import { readLine } from "../terminal/read-file.js";

export type SchemeName = "hmac" | "fields" | "public-key";

/** A secret, and where it was found: the place may be told, the secret never. */
export interface FoundSecret {
  text: string;
  from: string;
}

/** How signatures are made, with nothing left open. */
export interface SignatureSettings {
  scheme: SchemeName;
  /** The first one signs. May be empty: whoever needs one must say so. */
  secrets: readonly FoundSecret[];
  /** The variables in which a secret was looked for. */
  secretVariables: readonly string[];
  merchantId: string | undefined;
  fields: readonly ListedField[];
  /** Not judged yet: the scheme does that. Absent only for public-key, where the key decides. */
  algorithm: string | undefined;
  header: string;
  /** PEM text of the service's public key, from the environment. */
  publicKey: string | undefined;
}

/** Puts together what the options say, and where they say nothing, the variables that the kit itself reads. */
export async function readSignatureSettings(
  args: Arguments,
  context: Context,
  environment: Environment,
): Promise<SignatureSettings> {
  const read = (name: string): string | undefined => environment[`TILLKIT_${name}`]?.trim() || undefined;
  // Whoever names variables means these, also where they are not set.
  const named = args.all("secret-env");
  const secretVariables = named.length > 0 ? named : usualVariables;
  const fields = args
    .get("fields")
    ?.split(",")
    .map((name) => name.trim()) as ListedField[] | undefined;
  const implied = fields || args.has("merchant-id") ? "fields" : "hmac";
  const scheme = (args.get("scheme") ?? read("SIGNATURE") ?? implied) as SchemeName;
  return {
    scheme,
    secrets: await readSecrets(args, context, environment, secretVariables),
    secretVariables,
    merchantId: args.get("merchant-id") ?? read("MERCHANT_ID"),
    fields: fields ?? defaultSignedFields,
    algorithm:
      args.get("algorithm") ??
      read("SIGNATURE_ALGORITHM") ??
      (scheme === "public-key" ? undefined : "sha256"),
    header: args.get("header") ?? read("SIGNATURE_HEADER") ?? "Service-Signature",
    publicKey: read("PUBLIC_KEY")?.replaceAll("\\n", "\n"),
  };
}

const usualVariables = ["TILLKIT_WEBHOOK_SECRET", "TILLKIT_WEBHOOK_SECRET_PREVIOUS"];

async function readSecrets(
  args: Arguments,
  context: Context,
  environment: Environment,
  variables: readonly string[],
): Promise<FoundSecret[]> {
  const found: FoundSecret[] = [];
  for (const [index, text] of args.all("secret").entries())
    found.push({ text, from: args.all("secret").length > 1 ? `--secret (${index + 1}.)` : "--secret" });
  for (const file of args.all("secret-file"))
    found.push({ text: await readLine(file, context), from: `the file ${file}` });
  const given = found.length > 0;
  for (const name of given ? args.all("secret-env") : variables)
    if (environment[name]?.trim()) found.push({ text: environment[name], from: name });
  return found;
}

/** Why there is no secret, and where there may be one: `X is not set.` */
export function whyNoSecret({ secretVariables }: SignatureSettings, environment: Environment): string {
  const [name = ""] = secretVariables;
  const similar = Object.keys(environment)
    .filter((one) => /(WEBHOOK|SIGN\w*)_SECRET$/.test(one) && environment[one])
    .map((one) => `--secret-env ${one}`);
  const hint = similar.length > 0 ? ` It may be this one: ${similar.join(", ")}.` : "";
  return `${name} is ${environment[name] === undefined ? "not set" : "blank"}.${hint}`;
}

/** @throws TillkitError `secret_missing` where a secret is needed and there is none. */
export function requireSecret(settings: SignatureSettings, environment: Environment): void {
  if (settings.scheme === "public-key" || settings.secrets.length > 0) return;
  throw new TillkitError("secret_missing", `There is no secret: ${whyNoSecret(settings, environment)}`, {
    fix: "Give --secret-file, --secret-env or --secret, or set TILLKIT_WEBHOOK_SECRET.",
  });
}

/** Told whenever a secret was given where everybody on the machine can read it. */
export function remarkOnSecret(args: Arguments, { output }: Context): void {
  if (args.has("secret"))
    output.remark(
      "warning secret_on_command_line: --secret shows in the process list and in the shell's history; " +
        "use --secret-file or --secret-env.",
    );
}
