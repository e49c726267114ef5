import {
  constants,
  createPublicKey,
  getHashes,
  type KeyObject,
  verify as verifySignature,
} from "node:crypto";
import { type SignatureSettings } from "../sign/signature-settings.js";
import {
  type DiagnosisCode,
  hmac,
  type Hypothesis,
  hypotheses,
  type JoinFields,
  parseObject,
  type Variant,
} from "./hypotheses.js";

/** One difference from the signature that was expected. */
export interface Cause {
  code: DiagnosisCode;
  /** Completes "The signature fits …". */
  detail: string;
}

/** A value to try, with the causes that it stands for. The value as it was given has none. */
export interface Form<Value> {
  value: Value;
  causes: readonly Cause[];
}

/** A signature that does not match, and everything that may explain it. */
export interface Evidence {
  settings: SignatureSettings;
  rawBody: Buffer;
  signature: string;
  /** Bodies of other webhooks. */
  otherBodies: readonly Form<Buffer>[];
}

/** Prepares a check whether a signature fits. */
type Check = (secret: Buffer, message: Buffer) => (signature: Buffer) => boolean;

const maxCauses = 3;
/** A list of seven fields has 5,040 orders, one of ten has millions. */
const maxOrderedFields = 8;

/** Tries all hypotheses, and returns the fewest causes that explain the signature; `undefined` if nothing fits. */
export function findCauses(evidence: Evidence): readonly Cause[] | undefined {
  const { settings, rawBody, otherBodies } = evidence;
  const signatures = formsOf("signature", evidence.signature).flatMap(decodeSignature);
  const bodies = [...otherBodies, ...formsOf("body", rawBody)];
  if (settings.scheme === "public-key")
    return tryAll([asGiven(Buffer.alloc(0))], bodies, publicKeyChecks(settings), signatures);

  const fields = [...otherBodies, asGiven(rawBody)].flatMap((body) => fieldForms(body, settings));
  const isFields = settings.scheme === "fields";
  const what = isFields
    ? "the whole body (hmac), not some fields of it"
    : "some fields of the body (fields), not all of it";
  const ofOtherScheme = (forms: readonly Form<Buffer>[]) =>
    forms.map((form) => withCauses(form, [{ code: "scheme_other", detail: what }]));
  const messages = isFields ? [...fields, ...ofOtherScheme(bodies)] : [...bodies, ...ofOtherScheme(fields)];
  const checks = digestChecks(settings.algorithm);
  const found = tryAll(secretForms(settings), messages, checks, signatures);
  if (found) return found;
  // Only now, because there are thousands.
  const orders = fieldOrders(rawBody, settings);
  const secrets = settings.secrets.map(({ text }) => asGiven(Buffer.from(text)));
  return tryAll(secrets, isFields ? orders : ofOtherScheme(orders), checks.slice(0, 1), signatures);
}

/** Tries all combinations, and returns the fewest causes that explain a signature; of several the last ones. */
function tryAll(
  secrets: readonly Form<Buffer>[],
  messages: readonly Form<Buffer>[],
  checks: readonly Form<Check>[],
  signatures: readonly Form<Buffer>[],
): readonly Cause[] | undefined {
  let best: readonly Cause[] | undefined;
  for (const secret of secrets)
    for (const message of messages)
      for (const check of checks) {
        const causes = [...secret.causes, ...message.causes, ...check.causes];
        if (causes.length > Math.min(maxCauses, best?.length ?? maxCauses)) continue;
        const fits = check.value(secret.value, message.value);
        for (const signature of signatures) {
          const all = [...causes, ...signature.causes];
          if (all.length <= (best?.length ?? all.length) && fits(signature.value)) best = all;
        }
      }
  return best;
}

/** Returns a form without causes: the value as it was given. */
export function asGiven<Value>(value: Value): Form<Value> {
  return { value, causes: [] };
}

function withCauses<Value>({ value, causes }: Form<Value>, before: readonly Cause[]): Form<Value> {
  return { value, causes: [...before, ...causes] };
}

const table = Object.entries(hypotheses) as [DiagnosisCode, Hypothesis][];

/** Returns the forms of all variants that hypotheses give. */
function variantsOf<Value>(give: (one: Hypothesis) => readonly Variant<Value>[] | undefined): Form<Value>[] {
  return table.flatMap(([code, hypothesis]) =>
    (give(hypothesis) ?? []).map(([value, detail]) => ({ value, causes: [{ code, detail }] })),
  );
}

/** Returns the value as it was given, and as each hypothesis, or several in their order, would have it. */
function formsOf(part: "secret" | "body" | "signature", given: string | Buffer, place = ""): Form<Buffer>[] {
  const forms = [asGiven(Buffer.from(given as string))];
  for (const [code, hypothesis] of table)
    for (const { value, causes } of forms.filter((form) => form.causes.length < maxCauses))
      for (const [variant, detail] of hypothesis[part]?.(value.toString()) ?? []) {
        const bytes = Buffer.from(variant as string);
        if (bytes.length === 0 || bytes.equals(value)) continue;
        forms.push({ value: bytes, causes: [...causes, { code, detail: detail + place }] });
      }
  return forms;
}

function secretForms({ secrets, environment }: SignatureSettings): Form<Buffer>[] {
  const forms = secrets.flatMap(({ text, from }) => formsOf("secret", text, ` (${from})`));
  for (const [name, value = ""] of Object.entries(environment)) {
    const isSecret = /SECRET|KEY|TOKEN|SIGN/i.test(name) && value.length >= 8;
    if (!isSecret || secrets.some(({ text }) => text === value)) continue;
    const detail = `the secret in the variable ${name}`;
    forms.push({ value: Buffer.from(value), causes: [{ code: "secret_other", detail }] });
  }
  return forms;
}

/** Decodes the text of a signature. Hexadecimal digits are valid base64 too. */
function decodeSignature({ value, causes }: Form<Buffer>): Form<Buffer>[] {
  const text = value.toString();
  const forms: Form<Buffer>[] = [];
  if (/^[0-9a-f]{16,}$/i.test(text)) forms.push({ value: Buffer.from(text, "hex"), causes });
  if (/^[A-Za-z0-9+/_-]{22,}={0,2}$/.test(text)) {
    const cause = { code: "signature_base64", detail: "base64" } as const;
    forms.push({ value: Buffer.from(text, "base64"), causes: [...causes, cause] });
  }
  return forms;
}

/** Returns what a service may have made of fields of the body; nothing if the body is not JSON. */
function fieldForms(body: Form<Buffer>, { fields, merchantId }: SignatureSettings): Form<Buffer>[] {
  const join = fieldJoiner(body.value, merchantId);
  if (join === undefined) return [];
  const forms = [asGiven(join(fields)), ...variantsOf((one) => one.fields?.(fields, join))];
  return forms.map(({ value, causes }) => withCauses({ value: Buffer.from(value), causes }, body.causes));
}

function fieldOrders(rawBody: Buffer, { fields, merchantId }: SignatureSettings): Form<Buffer>[] {
  const join = fieldJoiner(rawBody, merchantId);
  if (join === undefined || fields.length > maxOrderedFields) return [];
  return permutations(fields).map((list) => ({
    value: Buffer.from(join(list)),
    causes: [{ code: "fields_other", detail: `the fields in this order: ${list.join(",")}` }],
  }));
}

function permutations(items: readonly string[]): string[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

/** Less strict than the kit's own reading of fields: a wrong guess only fits nothing. */
function fieldJoiner(rawBody: Buffer, merchantId = ""): JoinFields | undefined {
  const payload = parseObject(rawBody.toString());
  if (payload === undefined) return undefined;
  const read = (field: string): string => {
    if (field === "merchantId") return merchantId;
    const path = ["topic", "timestamp", "type"].includes(field) ? [field] : ["data", ...field.split(".")];
    let value: unknown = payload;
    for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key];
    if (typeof value === "string") return value;
    return value === undefined || value === null ? "" : JSON.stringify(value);
  };
  return (fields, separator = ",") => fields.map(read).join(separator);
}

function digestChecks(algorithm = "sha256"): Form<Check>[] {
  const known = getHashes().includes(algorithm) ? algorithm : "sha256";
  const digests = [asGiven(hmac(known)), ...variantsOf((one) => one.digest?.(known))];
  return digests.map(({ value: digest, causes }) => {
    const check: Check = (secret, message) => {
      const expected = digest(secret, message);
      return (given) => expected.equals(given);
    };
    return { value: check, causes };
  });
}

const rsaFamilies = {
  rsa: { padding: constants.RSA_PKCS1_PADDING },
  "rsa-pss": { padding: constants.RSA_PKCS1_PSS_PADDING },
};

/** Returns checks with a public key, for the algorithms that its type allows; nothing if it cannot be read. */
function publicKeyChecks({ publicKey = "", algorithm }: SignatureSettings): Form<Check>[] {
  let key: KeyObject;
  try {
    key = createPublicKey(publicKey);
  } catch {
    return [];
  }
  const type = key.asymmetricKeyType;
  const form = (digest: string | null, options: object, ...causes: Cause[]): Form<Check> => {
    const check: Check = (_, message) => (signature) => {
      try {
        return verifySignature(digest, message, { key, ...options }, signature);
      } catch {
        return false;
      }
    };
    return { value: check, causes };
  };
  if (type === "ed25519") return [form(null, {})];
  const families = type === "ec" ? { ecdsa: { dsaEncoding: "der" } } : rsaFamilies;
  const configured = algorithm ?? `${type === "ec" ? "ecdsa" : "rsa"}-sha256`;
  return Object.entries(families).flatMap(([family, options]) =>
    ["sha256", "sha384", "sha512", "sha1"].map((digest) => {
      const name = `${family}-${digest}`;
      if (name === configured) return form(digest, options);
      return form(digest, options, { code: "algorithm_other", detail: `the algorithm ${name}` });
    }),
  );
}
