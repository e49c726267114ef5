import { type FoundSecret } from "../sign/signature-settings.js";
import { type Environment } from "../terminal/environment.js";
import { asGiven, changed, type Form } from "./diagnoses.js";

/** The secrets as they were given, and what they may have been meant to be. Texts of forms never name the secret. */
export function secretForms(secrets: readonly FoundSecret[], environment: Environment): Form<Buffer>[] {
  const given = secrets.map(({ text }) => asGiven(Buffer.from(text)));
  return [...given, ...secrets.flatMap(readings), ...otherSecrets(secrets, environment)];
}

function readings({ text, from }: FoundSecret): Form<Buffer>[] {
  const forms: Form<Buffer>[] = [];
  const add = (value: string | Buffer, code: Parameters<typeof changed>[1], detail: string) =>
    forms.push(changed(Buffer.from(value as string), code, `${detail} (${from})`));

  const trimmed = text.trim();
  if (trimmed !== text) add(trimmed, "secret_padded", "the secret without the space or line break around it");
  for (const [ending, name] of endings)
    add(text + ending, "secret_padded", `the secret with ${name} at its end`);
  const unquoted = /^(["'`])(.*)\1$/s.exec(trimmed)?.[2];
  if (unquoted !== undefined) add(unquoted, "secret_quoted", "the secret without its quotation marks");
  add(`"${trimmed}"`, "secret_quoted", "the secret with quotation marks around it");

  const inner = unquoted ?? trimmed;
  addDecoded(inner, "the secret");
  const [, prefix, rest] = /^([a-z]{2,12}[_-](?:(?:live|test)[_-])?)(.{8,})$/i.exec(inner) ?? [];
  if (prefix !== undefined && rest !== undefined) {
    add(rest, "secret_prefixed", `the secret without its prefix "${prefix}"`);
    addDecoded(rest, `the secret after its prefix "${prefix}"`);
  }
  // The other way round: the service signs with the text of what was given.
  add(Buffer.from(inner).toString("hex"), "secret_encoded", "the secret written in hexadecimal");
  add(Buffer.from(inner).toString("base64"), "secret_encoded", "the secret written in base64");
  return forms;

  function addDecoded(encoded: string, what: string): void {
    if (/^([0-9a-f]{2}){8,}$/i.test(encoded))
      add(Buffer.from(encoded, "hex"), "secret_encoded", `the bytes for which ${what} stands in hexadecimal`);
    if (/^[A-Za-z0-9+/_-]{11,}={0,2}$/.test(encoded))
      add(Buffer.from(encoded, "base64"), "secret_encoded", `the bytes for which ${what} stands in base64`);
  }
}

const endings = [
  ["\n", "a line break"],
  ["\r\n", "a line break (CRLF)"],
  [" ", "a space"],
] as const;

/** What else the environment holds that could be a secret; told by the variable's name. */
function otherSecrets(secrets: readonly FoundSecret[], environment: Environment): Form<Buffer>[] {
  const known = new Set(secrets.map(({ text }) => text));
  return Object.entries(environment)
    .filter(
      ([name, value]) => /SECRET|KEY|TOKEN|SIGN/i.test(name) && value !== undefined && value.length >= 8,
    )
    .filter(([, value]) => !known.has(value!))
    .map(([name, value]) =>
      changed(Buffer.from(value!), "secret_other", `the secret in the variable ${name}`),
    );
}
