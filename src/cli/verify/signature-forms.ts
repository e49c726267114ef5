import { type Cause, type Form } from "./diagnoses.js";

/** What the text of a signature may stand for, as bytes. Several at once: hexadecimal is base64 too. */
export function signatureForms(text: string): Form<Buffer>[] {
  return texts(text).flatMap(({ value, causes }) => {
    const forms: Form<Buffer>[] = [];
    // Half a byte at the end of a signature that was cut off is of no use.
    if (/^[0-9a-f]{16,}$/i.test(value)) forms.push({ value: Buffer.from(value, "hex"), causes });
    if (/^[A-Za-z0-9+/_-]{22,}={0,2}$/.test(value))
      forms.push({
        value: Buffer.from(value, "base64"),
        causes: [...causes, { code: "signature_base64", detail: "what it stands for in base64" }],
      });
    return forms;
  });
}

/** The text itself, and what is left of it without spaces, quotation marks, prefixes and repetitions. */
function texts(text: string): Form<string>[] {
  const bare = text.trim().replace(/^(["'])(.*)\1$/, "$2");
  const padded: Cause[] =
    bare === text ? [] : [{ code: "signature_padded", detail: "the text without the characters around it" }];
  const found: Form<string>[] = [{ value: bare, causes: padded }];
  const parts = bare.split(/[,;]\s*/);
  for (const part of parts) {
    const [, prefix, rest] = /^([a-z][\w-]{0,15}[=:]\s*|0x)(.+)$/i.exec(part) ?? [];
    if (prefix !== undefined && rest !== undefined)
      found.push({
        value: rest,
        causes: [...padded, { code: "signature_prefixed", detail: `the text after "${prefix.trim()}"` }],
      });
    else if (parts.length > 1)
      found.push({
        value: part,
        causes: [
          ...padded,
          { code: "signature_repeated", detail: "one of the several values in the header" },
        ],
      });
  }
  return found;
}
