import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import { refusedDirectoryOf, refusedFiles } from "../../shared/refused-files.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type InputContext } from "../terminal/command.js";
import { unreadableFile } from "../terminal/read-file.js";
import { type Variant } from "./hypotheses.js";

/** A request that a proxy, a tunnel, `nc` or the kit has written to a file. */
export interface CapturedRequest {
  /** The headers, with names in lower case. */
  headers: readonly (readonly [name: string, value: string])[];
  rawBody: Buffer;
}

/**
 * Parses a request with or without a request line. Throws `command_operand_invalid` if there is no empty line
 * after the headers, or if a line before it is not a header.
 */
export function readCapturedRequest(bytes: Buffer): CapturedRequest {
  const [emptyLine] = ["\r\n\r\n", "\n\n"]
    .map((ending) => ({ at: bytes.indexOf(ending), length: ending.length }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  if (emptyLine === undefined) throw invalidRequest("there is no empty line between headers and body");
  const headers = bytes
    .subarray(0, emptyLine.at)
    .toString("latin1")
    .split(/\r?\n/)
    .filter((line) => line !== "" && !/^[A-Z]+ \S+( HTTP\/[\d.]+)?$/.test(line))
    .map((line) => {
      const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw invalidRequest("a line before the body is not a header");
      return [name.toLowerCase(), value] as const;
    });
  return { headers, rawBody: bytes.subarray(emptyLine.at + emptyLine.length) };
}

/** Returns the values of a header as Node joins them; `undefined` if the request has no such header. */
export function joinedHeader(headers: CapturedRequest["headers"], header: string): string | undefined {
  const values = headers.filter(([name]) => name === header.toLowerCase()).map(([, value]) => value);
  return values.length > 0 ? values.join(", ") : undefined;
}

function invalidRequest(because: string) {
  return operandError(`With --request, the file must contain a whole request, but ${because}.`);
}

/**
 * Returns the newest file of the kept refused webhooks, and the number of older files. Throws
 * `command_operand_invalid` with a file in the arguments, and `command_option_invalid` if no directory is
 * known. Throws `file_unreadable` if the directory has no such file or cannot be read.
 */
export async function findLast(
  args: Arguments,
  { cwd, env }: InputContext,
): Promise<{ file: string; older: number }> {
  if (args.operand !== undefined) throw operandError("Give either <file> or --last.");
  const given = args.get("kept") ?? env["TILLKIT_KEEP_REFUSED"]?.trim();
  const directory = refusedDirectoryOf(given);
  if (directory === undefined)
    throw optionError(
      "The directory of refused webhooks is not known: give --kept, or set TILLKIT_KEEP_REFUSED for the app and for " +
        "this command.",
    );
  const [newest, ...others] = await refusedFiles(path.resolve(cwd, directory)).catch(
    (cause: NodeJS.ErrnoException): string[] => {
      if (cause.code === "ENOENT") return [];
      throw unreadableFile(directory, cause);
    },
  );
  if (newest !== undefined) return { file: path.join(directory, newest), older: others.length };
  const fix =
    `Restart the app with TILLKIT_KEEP_REFUSED=${directory}, or webhook.keepRefused, and let the service send the webhook ` +
    'again. In the sandbox\'s dashboard, open the delivery and press "Send again".';
  throw new TillkitError("file_unreadable", `No refused webhook was kept in ${directory} yet.`, { fix });
}

const maxFiles = 200;
const maxOtherBodyBytes = 64 * 1024;

/** Reads the folder's files with the same extension. The signature may belong to one of their bodies. */
export async function readOtherBodies(
  file: string,
  cwd: string,
  areRequests: boolean,
): Promise<Variant<Buffer>[]> {
  if (file === "-") return [];
  const own = path.resolve(cwd, file);
  const folder = path.dirname(own);
  const names = (await readdir(folder).catch(() => [] as string[]))
    .filter((name) => path.extname(name) === path.extname(own) && name !== path.basename(own))
    .slice(0, maxFiles);
  const bodies: Variant<Buffer>[] = [];
  for (const name of names) {
    const value = await readSmall(path.join(folder, name), areRequests).catch(() => undefined);
    if (value) bodies.push([value, `the body in the file ${name} in the same folder`]);
  }
  return bodies;
}

async function readSmall(file: string, isRequest: boolean): Promise<Buffer | undefined> {
  const stats = await stat(file);
  if (!stats.isFile() || stats.size > maxOtherBodyBytes) return undefined;
  const bytes = await readFile(file);
  return isRequest ? readCapturedRequest(bytes).rawBody : bytes;
}
