import { constants, createHmac, getHashes, verify as verifySignature } from "node:crypto";
import { readPublicKey, usualAlgorithm } from "../sign/make-scheme.js";
import { type SignatureSettings } from "../sign/signature-settings.js";
import {
  type DiagnosisCode,
  type Hypothesis,
  hypotheses,
  type JoinFields,
  parseObject,
  type Variant,
} from "./hypotheses.js";

/** The mistake that explains why a signature does not match. */
export interface Cause {
  code: DiagnosisCode;
  /** The end of the sentence "The signature fits …". */
  detail: string;
}

/** A signature that does not match, with the values that may explain it. */
export interface Mismatch {
  settings: SignatureSettings;
  rawBody: Buffer;
  signature: string;
  /** The bodies of other webhooks. */
  otherBodies: readonly Variant<Buffer>[];
}

/** The values that a signature is checked with. */
interface Attempt {
  secret: string | Buffer;
  message: string | Buffer;
  algorithm: string;
  signature: string;
  encoding: BufferEncoding;
}

/** A mistake to try: the value that is different, and its description. */
type Change = Cause & { value: Partial<Attempt> };

/** The maximum number of fields whose orders are tried. Ten fields would have millions of orders. */
const maxOrderedFields = 8;

/**
 * Returns the mistake that explains the signature. Returns `null` if the signature fits without a mistake, or
 * `undefined` if no mistake explains the signature.
 */
export function findCause(mismatch: Mismatch): Cause | null | undefined {
  const { settings, rawBody, signature } = mismatch;
  const join = settings.scheme === "fields" ? fieldJoiner(rawBody, settings) : undefined;
  const message = settings.scheme === "fields" ? (join?.(settings.fields) ?? "") : rawBody;
  const { algorithm, check } = settings.scheme === "public-key" ? keyCheck(settings) : digestCheck(settings);
  const changes = [
    ...otherSecrets(settings),
    ...messageChanges(mismatch, join),
    ...changesBy("algorithm", (one) => one.algorithm?.(algorithm)),
    ...changesBy("signature", (one) => one.signature?.(signature)),
    { code: "signature_base64", detail: "base64", value: { encoding: "base64" } } as const,
  ];
  for (const { text, from } of settings.scheme === "public-key"
    ? [{ text: "", from: "" }]
    : settings.secrets) {
    const fits = ({ value }: { value: Partial<Attempt> }): boolean =>
      check({ secret: text, message, algorithm, signature, encoding: "hex", ...value });
    if (fits({ value: {} })) return null;
    const ofSecret = changesBy("secret", (one) => one.secret?.(text), ` (${from})`);
    // Orders of fields are tried last, because there can be thousands of orders.
    const found = [...ofSecret, ...changes].findLast(fits) ?? fieldOrders(settings, join).find(fits);
    if (found) return { code: found.code, detail: found.detail };
  }
  return undefined;
}

/** Returns the changes that the hypotheses suggest for one value. */
function changesBy(
  part: keyof Attempt,
  give: (one: Hypothesis) => readonly Variant<string | Buffer>[] | undefined,
  place = "",
): Change[] {
  const table = Object.entries(hypotheses) as [DiagnosisCode, Hypothesis][];
  return table.flatMap(([code, hypothesis]) =>
    (give(hypothesis) ?? [])
      .filter(([value]) => value.length > 0)
      .map(([value, detail]) => ({ code, detail: detail + place, value: { [part]: value } })),
  );
}

function otherSecrets({ environment }: SignatureSettings): Change[] {
  return Object.entries(environment).flatMap(([name, secret = ""]) => {
    const isSecret = /SECRET|KEY|TOKEN|SIGN/i.test(name) && secret.length >= 8;
    return isSecret
      ? [{ code: "secret_other", detail: `the secret in the variable ${name}`, value: { secret } }]
      : [];
  });
}

function messageChanges(
  { settings, rawBody, otherBodies }: Mismatch,
  join: JoinFields | undefined,
): Change[] {
  const { fields, scheme } = settings;
  const isFields = scheme === "fields";
  const other = isFields ? rawBody : fieldJoiner(rawBody, settings)?.(fields);
  const what = isFields
    ? "the whole body (hmac) instead of some fields"
    : "some fields of the body (fields) instead of the whole body";
  return [
    ...otherBodies.flatMap(([body, detail]): Change[] => {
      const message = isFields ? fieldJoiner(body, settings)?.(fields) : body;
      return message === undefined ? [] : [{ code: "body_other", detail, value: { message } }];
    }),
    ...(other === undefined
      ? []
      : [{ code: "scheme_other", detail: what, value: { message: other } } as const]),
    ...(isFields
      ? changesBy("message", (one) => join && one.fields?.(fields, join))
      : changesBy("message", (one) => one.body?.(rawBody.toString()))),
  ];
}

function fieldOrders({ fields }: SignatureSettings, join: JoinFields | undefined): Change[] {
  if (join === undefined || fields.length > maxOrderedFields) return [];
  return permutations(fields).map((list) => ({
    code: "fields_other",
    detail: `the fields in this order: ${list.join(",")}`,
    value: { message: join(list) },
  }));
}

function permutations(items: readonly string[]): string[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

/** Returns a function that joins fields of the body. Unlike the kit, the function accepts unusual values. */
function fieldJoiner(rawBody: Buffer, { merchantId = "" }: SignatureSettings): JoinFields | undefined {
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

/** A check of signatures, and the first algorithm to try. */
interface SignatureCheck {
  algorithm: string;
  check: (attempt: Attempt) => boolean;
}

function digestCheck({ algorithm = "sha256" }: SignatureSettings): SignatureCheck {
  return {
    algorithm: getHashes().includes(algorithm) ? algorithm : "sha256",
    check: ({ secret, message, algorithm: name, signature, encoding }) =>
      createHmac(name, secret).update(message).digest().equals(Buffer.from(signature, encoding)),
  };
}

function keyCheck({ publicKey = "", algorithm }: SignatureSettings): SignatureCheck {
  const options: Readonly<Record<string, object>> = {
    ecdsa: { dsaEncoding: "der" },
    rsa: { padding: constants.RSA_PKCS1_PADDING },
    "rsa-pss": { padding: constants.RSA_PKCS1_PSS_PADDING },
  };
  const check: SignatureCheck["check"] = ({ message, algorithm: name, signature, encoding }) => {
    const [, family = "", digest = null] = /^(.+)-(\w+)$/.exec(name) ?? [];
    try {
      const key = { key: publicKey, ...options[family] };
      return verifySignature(digest, Buffer.from(message), key, Buffer.from(signature, encoding));
    } catch {
      // The key is not readable, or does not fit the algorithm.
      return false;
    }
  };
  return { algorithm: algorithm ?? usualAlgorithm(readPublicKey(publicKey)), check };
}
