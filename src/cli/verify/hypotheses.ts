import { escapeUnits } from "../../shared/quote.js";
import { defaultSignedFields, signedFields } from "../../webhook/signature/index.js";

/** A value to try, with an ending for the sentence "The signature fits …". */
export type Variant<Value = string> = readonly [value: Value, detail: string];

/** Joins fields of the body. The default separator is a comma. */
export type JoinFields = (fields: readonly string[], separator?: string) => string;

/** A reason why a signature may not match. Each function returns other values to try. */
export interface Hypothesis {
  /** The advice for this reason. */
  fix: string;
  secret?(text: string): Variant<string | Buffer>[];
  body?(text: string): Variant[];
  /** Returns the signed text for other lists of fields, or for another separator. */
  fields?(list: readonly string[], join: JoinFields): Variant[];
  algorithm?(name: string): Variant[];
  signature?(text: string): Variant[];
}

/**
 * All reasons that `tillkit verify` finds. If two reasons that change the same value explain a signature, the
 * later reason is reported.
 */
export const hypotheses = {
  secret_padded: {
    fix: "Set the secret again without the surrounding characters. A file or a variable often adds a line break.",
    secret: (text) => [
      [text.trim(), "the secret without the space or line break around it"],
      [`${text}\n`, "the secret with a line break at its end"],
      [`${text}\r\n`, "the secret with a line break (CRLF) at its end"],
      [`${text} `, "the secret with a space at its end"],
    ],
  },
  secret_quoted: {
    fix: "Remove the quotation marks, because the program that reads the variable does not remove them.",
    secret: (text) => [
      [text.replace(/^\s*(["'`])(.*)\1\s*$/s, "$2"), "the secret without its quotation marks"],
      [`"${text.trim()}"`, "the secret with quotation marks around it"],
    ],
  },
  secret_encoded: {
    fix: "Give the scheme the decoded bytes: Buffer.from(secret, 'hex') or Buffer.from(secret, 'base64'), as the message says.",
    secret: (text) => [
      [Buffer.from(text, "hex"), "the bytes that the secret encodes in hexadecimal"],
      [Buffer.from(text, "base64"), "the bytes that the secret encodes in base64"],
      [Buffer.from(text).toString("hex"), "the secret encoded in hexadecimal"],
      [Buffer.from(text).toString("base64"), "the secret encoded in base64"],
    ],
  },
  secret_other: {
    fix: "Use the secret for this webhook address and this environment. During a rotation, give both secrets.",
  },
  secret_wrong: {
    fix:
      "Copy the secret for this webhook address and this environment from the service again, and restart the app. " +
      "If the secret was right, check that the body and the signature come from one request, byte " +
      "for byte. Then ask the service what it signs.",
  },
  body_reserialised: {
    fix:
      "Verify the raw bytes instead of the output of JSON.stringify: mount the payment router before the JSON " +
      "parser, or use captureRawBody. A body from a log or an editor can differ from the body that arrived.",
    body: rewrittenJson,
  },
  body_line_ending: {
    fix: "Save the body byte for byte. An editor, echo or a conversion of line breaks has changed the body.",
    body: (text) => {
      const withLf = text.replaceAll("\r\n", "\n");
      return [
        [withLf.trimEnd(), "the body with LF line breaks, and without a line break at its end"],
        [withLf, "the body with LF line breaks instead of CRLF"],
        [withLf.replaceAll("\n", "\r\n"), "the body with CRLF line breaks instead of LF"],
        [text.trim(), "the body without the space around it"],
        [text.trimEnd(), "the body without the line break at its end"],
        [`${text.trimEnd()}\r\n`, "the body with a line break (CRLF) at its end"],
        [`${text.trimEnd()}\n`, "the body with a line break at its end"],
      ];
    },
  },
  body_other: { fix: "Compare the signature with the body from the same request." },
  scheme_other: { fix: "Configure the scheme that the service uses: hmacSignature or fieldsSignature." },
  fields_other: {
    fix: "Give fieldsSignature the fields in the order in which the service signs them.",
    fields: (list, join) => {
      const others = signedFields.filter((field) => !list.includes(field));
      const lists = [
        defaultSignedFields,
        ...list.map((_, index) => list.toSpliced(index, 1)),
        ...others.flatMap((field) => [
          [...list, field],
          [field, ...list],
        ]),
      ];
      const separators = ["", "|", ".", ":", ";", "&", "-", " ", "\n", ", "];
      return [
        ...lists.map((one) => [join(one), `the fields ${one.join(",")}`] as const),
        ...separators.map(
          (one) =>
            [join(list, one), `the fields joined by ${JSON.stringify(one)} instead of a comma`] as const,
        ),
      ];
    },
  },
  merchant_id_other: {
    fix:
      "Set merchantId to the value that the service signs. If the service does not sign merchantId, remove it from " +
      "the list.",
    fields: (list, join) => [
      [join(list.filter((name) => name !== "merchantId")), "the fields without merchantId"],
      [join(list.map((name) => (name === "merchantId" ? "" : name))), "the fields with an empty merchantId"],
    ],
  },
  algorithm_other: {
    fix: "Set the algorithm that the service uses. The kit supports sha256, sha384 and sha512.",
    algorithm: (name) => {
      const [, family = ""] = /^(.*-)?/.exec(name) ?? [];
      const families = family.startsWith("rsa") ? ["rsa-", "rsa-pss-"] : [family];
      const digests = ["sha256", "sha384", "sha512", "sha1", ...(family === "" ? ["md5"] : [])];
      return families
        .flatMap((one) => digests.map((digest) => one + digest))
        .filter((one) => one !== name)
        .map((one) => [one, `the algorithm ${one}`]);
    },
  },
  signature_padded: {
    fix: "Compare the signature without the surrounding characters.",
    signature: (text) => [
      [text.trim().replace(/^(["'])(.*)\1$/, "$2"), "the text without the characters around it"],
    ],
  },
  signature_prefixed: {
    fix: "Write a scheme of your own that removes the prefix of the signature.",
    signature: (text) =>
      text.split(/[,;]\s*/).flatMap((part): Variant[] => {
        const [, prefix = "", rest] = /^([a-z][\w-]{0,15}[=:]\s*|0x)(.+)$/i.exec(part) ?? [];
        return rest === undefined ? [] : [[rest, `the text after "${prefix.trim()}"`]];
      }),
  },
  signature_base64: {
    fix: "Verify the signature in a scheme of your own, because the kit's schemes read hexadecimal. See docs/signatures.md.",
  },
  signature_header_other: { fix: "Set the scheme's header to the header name that the service sends." },
  signature_upper_case: {
    fix: "Do nothing for the kit. If your own code compares signatures, it must ignore upper and lower case.",
  },
  signature_unexplained: {
    fix:
      "Check that the header, the body and the signature come from one request, byte for byte. Check that the secret " +
      "or key is for this webhook address and this environment.",
  },
} satisfies Record<string, Hypothesis>;

export type DiagnosisCode = keyof typeof hypotheses;

/** Returns the JSON of the body as other programs write it; empty if the body is not JSON. */
function rewrittenJson(text: string): Variant[] {
  const value = parseObject(text);
  if (value === undefined) return [];
  const json = JSON.stringify(value);
  const sorted = (one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one;
  return [
    [JSON.stringify(value, (_, one) => sorted(one)), "the body as JSON with its keys sorted"],
    [json.replace(/[<>&\u2028\u2029]/g, escapeUnits), "the body as Go writes it"],
    [ascii(json).replaceAll("/", "\\/"), "the body as PHP's json_encode writes it"],
    [spaced(value), "the body as Python writes it without escapes"],
    [ascii(spaced(value)), "the body as Python's json.dumps writes it"],
    [ascii(json), "the body as JSON in ASCII"],
    ...[2, 4, "\t"].map(
      (indent) => [JSON.stringify(value, null, indent), "the body as JSON.stringify indents it"] as const,
    ),
    [json, "the body as JSON.stringify writes it"],
  ];
}

/** Parses a JSON object or array; `undefined` if the text is something else. A byte order mark is ignored. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`);
  return `{${members.join(", ")}}`;
}

function ascii(text: string): string {
  return text.replace(/[\u0080-\uFFFF]/g, escapeUnits);
}
