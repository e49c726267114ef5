import { inspect } from "node:util";

/** The minimum number of bytes of a secret that is replaced. Ordinary text may contain shorter strings. */
const minBytes = 8;
/** The maximum number of remembered secrets of each kind. New tokens would otherwise fill the memory. */
const maxRemembered = 100;
/** The maximum number of nested causes that are copied. */
const maxDepth = 4;
const mark = "[secret]";

/** Secrets of the configuration, with their written forms. All kits of the process share them. */
const configured = new Map<string, readonly string[]>();
/** Access tokens, with their written forms. */
const obtained = new Map<string, readonly string[]>();

/** Registers a secret of the configuration, so that errors, log lines and records do not show it. */
export function concealSecret(secret: string | Uint8Array): void {
  remember(configured, Buffer.from(secret));
}

/** Registers an access token like a configured secret. Only the last 100 tokens are remembered. */
export function concealToken(token: string): void {
  remember(obtained, Buffer.from(token));
}

/** Returns the text with `[secret]` in place of each registered secret, in any of its written forms. */
export function withoutSecrets(text: string): string {
  let clean = text;
  for (const forms of [...configured.values(), ...obtained.values()])
    for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, mark);
  return clean;
}

/**
 * Returns a value that other code threw, in a form that may be kept as a `cause`. If the value shows no
 * secret, returns the value unchanged. Otherwise returns a copy with only the name, code, message, stack and
 * causes, because HTTP clients attach the request and its headers to an error.
 */
export function withoutSecretsIn(cause: unknown, depth = 0): unknown {
  if (typeof cause === "string") return withoutSecrets(cause);
  if (typeof cause !== "object" || cause === null || !showsSecret(cause)) return cause;
  const { name, code, message, stack, cause: inner } = cause as Partial<Record<string, unknown>>;
  const keepsInner = inner !== undefined && depth < maxDepth;
  const copy = new Error(
    withoutSecrets(String(message)),
    keepsInner ? { cause: withoutSecretsIn(inner, depth + 1) } : undefined,
  );
  if (typeof name === "string") copy.name = withoutSecrets(name);
  if (typeof stack === "string") copy.stack = withoutSecrets(stack);
  if (typeof code === "string") Object.assign(copy, { code: withoutSecrets(code) });
  return copy;
}

function showsSecret(value: object): boolean {
  if (configured.size === 0 && obtained.size === 0) return false;
  try {
    const shown = inspect(value, { depth: maxDepth + 2, maxStringLength: null });
    return withoutSecrets(shown) !== shown;
  } catch {
    // A value that cannot be inspected may hold a secret.
    return true;
  }
}

function remember(secrets: Map<string, readonly string[]>, bytes: Buffer): void {
  if (bytes.length < minBytes) return;
  const key = bytes.toString("latin1");
  const forms = secrets.get(key) ?? writtenForms(bytes);
  // The secret is inserted again, so that the least recently used one is forgotten first.
  secrets.delete(key);
  secrets.set(key, forms);
  if (secrets.size > maxRemembered) secrets.delete(secrets.keys().next().value!);
}

/** Returns the strings that these bytes become in text, headers, HTML forms and JSON, the longest first. */
function writtenForms(bytes: Buffer): string[] {
  const text = bytes.toString("utf8");
  const hexadecimal = bytes.toString("hex");
  const forms = [
    text,
    encodeURIComponent(text),
    new URLSearchParams([["", text]]).toString().slice(1),
    JSON.stringify(text).slice(1, -1),
    hexadecimal,
    hexadecimal.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => base64Within(bytes, offset)),
  ];
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

/**
 * Returns the base64 characters that depend only on `bytes`, if `offset` other bytes (modulo 3) come before.
 * The second result uses the other alphabet of base64.
 */
function base64Within(bytes: Buffer, offset: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
  const start = Math.ceil((offset * 8) / 6);
  const own = encoded.slice(start, Math.floor(((offset + bytes.length) * 8) / 6));
  return [own, own.replaceAll("-", "+").replaceAll("_", "/")];
}

/** The parts of an error that are logged. */
export interface LoggableError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggableError;
}

/**
 * Returns the parts of an error that may be logged: name, code, message, stack, and up to three nested causes
 * without their stacks. The kit's secrets are replaced. Other properties are left out, because drivers attach
 * statements with their values, addresses with passwords, and request headers.
 */
export function loggable(error: unknown, depth = 0): LoggableError {
  if (typeof error !== "object" || error === null)
    return { type: typeof error, message: withoutSecrets(String(error)) };
  const { name, message, code, stack, cause } = error as Partial<Record<string, unknown>>;
  return {
    type: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? withoutSecrets(message) : "",
    ...((typeof code === "string" || typeof code === "number") && { code: withoutSecrets(String(code)) }),
    ...(typeof stack === "string" && depth === 0 && { stack: withoutSecrets(stack) }),
    ...(cause !== undefined && depth < 3 && { cause: loggable(cause, depth + 1) }),
  };
}
