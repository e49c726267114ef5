import { isUtf8 } from "node:buffer";
import { asGiven, changed, type Form } from "./diagnoses.js";
import { jsonForms } from "./json-forms.js";

/** The body as it was given, and what editors, parsers and conversions may have made of it. */
export function bodyForms(rawBody: Buffer): Form<Buffer>[] {
  const forms = [asGiven(rawBody)];
  const add = (value: string | Buffer, code: Parameters<typeof changed>[1], detail: string) => {
    const bytes = Buffer.from(value as string);
    if (!forms.some((form) => form.value.equals(bytes))) forms.push(changed(bytes, code, detail));
  };

  const text = rawBody.toString("utf8");
  if (isUtf16(rawBody))
    add(rawBody.toString("utf16le").replace(/^\uFEFF/, ""), "body_encoding", "the body in UTF-8");
  if (!isUtf8(rawBody)) {
    add(rawBody.toString("latin1"), "body_encoding", "the body in UTF-8 instead of Latin-1");
    return forms;
  }
  const [marked, bare] = text.startsWith("\uFEFF") ? [true, text.slice(1)] : [false, text];
  if (marked) add(bare, "body_byte_order_mark", "the body without its byte order mark");
  else add(`\uFEFF${text}`, "body_byte_order_mark", "the body with a byte order mark");

  add(bare.trimEnd(), "body_line_ending", "the body without the line break at its end");
  add(bare.trim(), "body_line_ending", "the body without the space around it");
  for (const [ending, name] of [
    ["\n", "a line break"],
    ["\r\n", "a line break (CRLF)"],
  ] as const)
    add(bare.trimEnd() + ending, "body_line_ending", `the body with ${name} at its end`);
  const withLf = bare.replaceAll("\r\n", "\n");
  add(withLf, "body_line_ending", "the body with line breaks LF instead of CRLF");
  add(withLf.trimEnd(), "body_line_ending", "the body with line breaks LF, and none at its end");
  add(withLf.replaceAll("\n", "\r\n"), "body_line_ending", "the body with line breaks CRLF instead of LF");

  for (const { name, text: written } of jsonForms(bare)) {
    add(written, "body_reserialised", `the body as ${name}`);
    add(`${written}\n`, "body_reserialised", `the body as ${name}, with a line break at its end`);
    add(written.replaceAll("\n", "\r\n"), "body_reserialised", `the body as ${name}, with line breaks CRLF`);
  }
  if (/[\u0080-\u00FF]/.test(text)) add(Buffer.from(text, "latin1"), "body_encoding", "the body in Latin-1");
  add(Buffer.from(text, "utf16le"), "body_encoding", "the body in UTF-16");
  for (const part of ["data", "payload"] as const) {
    const inner = partOf(bare, part);
    if (inner !== undefined) add(inner, "body_part", `only what stands under ${part} in the body`);
  }
  return forms;
}

function isUtf16(bytes: Buffer): boolean {
  return bytes.length > 2 && ((bytes[0] === 0xff && bytes[1] === 0xfe) || bytes[1] === 0);
}

function partOf(text: string, part: string): string | undefined {
  try {
    const value = (JSON.parse(text) as Record<string, unknown> | null)?.[part];
    return value === undefined ? undefined : JSON.stringify(value);
  } catch {
    return undefined;
  }
}
