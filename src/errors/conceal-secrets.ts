import { inspect } from "node:util";

/** Shorter texts stand in ordinary words, and would tear holes into them. */
const shortest = 8;
/** Of either kind; tokens are renewed for as long as a process lives. */
const mostRemembered = 100;
/** How deep an error is looked into, and copied. */
const deepest = 4;
const mark = "[secret]";

/** The forms of each secret that this process was given. Module state, because an error does not know its kit. */
const configured = new Map<string, readonly string[]>();
const obtained = new Map<string, readonly string[]>();

/** From now on this secret of the configuration is taken out of every error, log line and record of one. */
export function concealSecret(secret: string | Uint8Array): void {
  remember(configured, Buffer.from(secret));
}

/** The same for an access token, which others will follow. */
export function concealToken(token: string): void {
  remember(obtained, Buffer.from(token));
}

/** The text, with a mark in the place of every secret that is known to this process, in whatever form it is written. */
export function withoutSecrets(text: string): string {
  let clean = text;
  for (const forms of [...configured.values(), ...obtained.values()])
    for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, mark);
  return clean;
}

/**
 * What somebody else threw, fit to be kept as a `cause`: as it is, or, where anything in it betrays a secret, a copy of
 * its name, code, message and stack. HTTP clients hang the request on their errors, header and all.
 */
export function withoutSecretsIn(cause: unknown, depth = 0): unknown {
  if (typeof cause === "string") return withoutSecrets(cause);
  if (typeof cause !== "object" || cause === null || !betrays(cause)) return cause;
  const { name, code, message, stack, cause: deeper } = cause as Partial<Record<string, unknown>>;
  const further = deeper !== undefined && depth < deepest;
  const copy = new Error(
    withoutSecrets(String(message)),
    further ? { cause: withoutSecretsIn(deeper, depth + 1) } : undefined,
  );
  if (typeof name === "string") copy.name = withoutSecrets(name);
  if (typeof stack === "string") copy.stack = withoutSecrets(stack);
  if (typeof code === "string") Object.assign(copy, { code: withoutSecrets(code) });
  return copy;
}

function betrays(value: object): boolean {
  if (configured.size === 0 && obtained.size === 0) return false;
  try {
    const shown = inspect(value, { depth: deepest + 2, maxStringLength: null });
    return withoutSecrets(shown) !== shown;
  } catch {
    // What cannot be looked at is not handed on.
    return true;
  }
}

function remember(secrets: Map<string, readonly string[]>, bytes: Buffer): void {
  if (bytes.length < shortest) return;
  const key = bytes.toString("latin1");
  const forms = secrets.get(key) ?? formsOf(bytes);
  // Set anew, so that the one that was used last is the last to be forgotten.
  secrets.delete(key);
  secrets.set(key, forms);
  if (secrets.size > mostRemembered) secrets.delete(secrets.keys().next().value!);
}

/** How these bytes are written in texts, in headers, in forms and in JSON. The longest come first. */
function formsOf(bytes: Buffer): string[] {
  const text = bytes.toString("utf8");
  const hexadecimal = bytes.toString("hex");
  const forms = [
    text,
    encodeURIComponent(text),
    new URLSearchParams([["", text]]).toString().slice(1),
    JSON.stringify(text).slice(1, -1),
    hexadecimal,
    hexadecimal.toUpperCase(),
    ...[0, 1, 2].flatMap((before) => base64Within(bytes, before)),
  ];
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

/** What of the base64 of a longer text is due to these bytes alone, when so many bytes (of three) stand before them. */
function base64Within(bytes: Buffer, before: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
  const start = Math.ceil((before * 8) / 6);
  const own = encoded.slice(start, Math.floor(((before + bytes.length) * 8) / 6));
  return [own, own.replaceAll("-", "+").replaceAll("_", "/")];
}
