import { readFile } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { TillkitError } from "../../errors/index.js";
import { because } from "../../shared/because.js";
import { type Arguments, type Variables, type ProcessContext } from "./command.js";

/** The folder for relative paths, and standard input. */
export type FileContext = Pick<ProcessContext, "cwd" | "stdin">;

/** Reads a file, or standard input for `-`. Throws `file_unreadable`. */
export async function readBytes(file: string, { cwd, stdin }: FileContext): Promise<Buffer> {
  if (file === "-") return buffer(stdin);
  try {
    return await readFile(path.resolve(cwd, file));
  } catch (cause) {
    throw unreadableFile(file, cause);
  }
}

/** Returns the error for a file that cannot be read. */
export function unreadableFile(file: string, cause: unknown): TillkitError {
  return new TillkitError("file_unreadable", `The file ${file} cannot be read${because(cause)}`, { cause });
}

/** Reads a text file as UTF-8. */
export async function readText(file: string, context: FileContext): Promise<string> {
  return (await readBytes(file, context)).toString("utf8");
}

export const envFileOption = {
  "--env-file <file> ...": "Reads variables from a file. Variables that are already set keep their values.",
};

/** Returns the environment that the application would have with the same `--env-file` options. */
export async function readEnvironment(
  args: Arguments,
  context: FileContext & Pick<ProcessContext, "env">,
): Promise<Variables> {
  let fromFiles: Variables = {};
  for (const file of args.all("env-file"))
    fromFiles = { ...fromFiles, ...parseEnv(plainText(file, await readBytes(file, context))) };
  return { ...fromFiles, ...context.env };
}

/** Returns the text of a file of variables. Throws `file_unreadable` for UTF-16 or a byte order mark. */
function plainText(file: string, bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.startsWith("\ufeff") && !text.includes("\0")) return text;
  throw new TillkitError("file_unreadable", `The file ${file} is not UTF-8 without a byte order mark.`, {
    fix: "Save the file as UTF-8 without a byte order mark; otherwise Node misses the first variable, or all of them.",
  });
}
