import { readFile } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { TillkitError } from "../../errors/index.js";
import { type Context } from "./command.js";

/**
 * The bytes of a file; of standard input for `-`.
 *
 * @throws TillkitError `file_unreadable`
 */
export async function readBytes(
  file: string,
  { cwd, stdin }: Pick<Context, "cwd" | "stdin">,
): Promise<Buffer> {
  if (file === "-") return buffer(stdin);
  try {
    return await readFile(path.resolve(cwd, file));
  } catch (cause) {
    throw new TillkitError("file_unreadable", `The file ${file} cannot be read.`, { cause });
  }
}

/** The text of a small file that ends as editors and `echo` end it: one line break at the end is not part of it. */
export async function readLine(file: string, context: Pick<Context, "cwd" | "stdin">): Promise<string> {
  return (await readBytes(file, context)).toString("utf8").replace(/\r?\n$/, "");
}
