import { readdir } from "node:fs/promises";

/** The ending of the file names of kept refused webhooks. A name begins with the time in UTC. */
export const refusedEnding = ".http";

/** Returns the names of the refused webhooks in a directory, the newest first. */
export async function refusedFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => name.endsWith(refusedEnding)).toSorted((a, b) => (a < b ? 1 : -1));
}

/** The User-Agent of the doctor. Wrong signatures of the doctor do not mean that the secret is wrong. */
export const doctorAgent = "tillkit-doctor";

/** The directory that the kit suggests for refused webhooks if no directory is configured. */
export const suggestedRefusedDirectory = "./refused";

/** Returns a command for the app's folder that shows why the newest webhook in `directory` was refused. */
export function verifyLast(
  directory = suggestedRefusedDirectory,
  envFiles: readonly string[] = [".env"],
): string {
  return withFiles(`npx tillkit verify --last --kept ${quoted(directory)}`, envFiles);
}

/** Returns the command that shows what a kept webhook would change. */
export function replayFile(file: string, envFiles: readonly string[]): string {
  return withFiles(`npx tillkit replay ${quoted(file)}`, envFiles);
}

function withFiles(command: string, envFiles: readonly string[]): string {
  return [command, ...envFiles.map((file) => `--env-file ${quoted(file)}`)].join(" ");
}

function quoted(name: string): string {
  return /^[\w./\\:@~+-]+$/.test(name) ? name : `"${name}"`;
}

/** Returns the directory in a value of `TILLKIT_KEEP_REFUSED`, without a final `?inProduction=true`. */
export function refusedDirectoryOf(text: string | undefined): string | undefined {
  return text?.replace(/\?inProduction=true$/, "") || undefined;
}

/**
 * The error in the body of the answer to a refused webhook, by HTTP status. The body does not show the
 * reason.
 */
export const refusalErrors: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "signature_invalid",
  405: "method_not_allowed",
  408: "body_timeout",
  413: "body_too_large",
  415: "unsupported_media_type",
  429: "too_many_failures",
  500: "internal_error",
  503: "unavailable",
};
