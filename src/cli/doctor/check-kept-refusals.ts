import { readFile } from "node:fs/promises";
import path from "node:path";
import { because } from "../../shared/because.js";
import { refusedDirectoryOf, refusedFiles, replayFile, verifyLast } from "../../shared/refused-files.js";
import { type SignatureScheme } from "../../webhook/signature/index.js";
import { makeScheme } from "../sign/make-scheme.js";
import { readCapturedRequest } from "../verify/read-input.js";
import { kitProblems } from "./check-environment.js";
import { type AsyncFindings, finding } from "./findings.js";
import { type DoctorSubject, type ProbedSubject } from "./subject.js";

/**
 * Returns the directory in which the app keeps refused webhooks, or `undefined`. With `--app`, the returned
 * path is relative to the doctor's folder, so that a printed command works in this folder.
 */
export function refusedDirectoryIn({ environment, app, cwd }: DoctorSubject): string | undefined {
  const directory = refusedDirectoryOf(environment["TILLKIT_KEEP_REFUSED"]?.trim());
  if (directory === undefined || app === path.resolve(cwd)) return directory;
  return path.relative(cwd, path.resolve(app, directory)) || ".";
}

/** Checks whether the refused webhooks that the kit kept match the configured secret. */
export async function* checkKeptRefusals(subject: ProbedSubject): AsyncFindings {
  const { envFiles, outside, cwd, settings } = subject;
  const directory = refusedDirectoryIn(subject);
  if (outside || directory === undefined) return;
  const folder = path.resolve(cwd, directory);
  let unreadable = "";
  const names = await refusedFiles(folder).catch((error: NodeJS.ErrnoException): string[] => {
    // The kit creates the directory for the first refused webhook.
    if (error.code !== "ENOENT") unreadable = because(error);
    return [];
  });
  const why = `To see why the newest webhook was refused: ${verifyLast(directory, envFiles)}`;

  let scheme: SignatureScheme | undefined;
  // `checkWebhookSecret` reports the problems of the settings, so they are ignored here.
  kitProblems(() => (scheme = makeScheme(settings)));
  const [mismatched, matching]: [string[], string[]] = [[], []];
  for (const name of names.filter((one) => one.includes("-signature_mismatch-")))
    if (scheme) ((await isVerified(path.join(folder, name), scheme)) ? matching : mismatched).push(name);
  if (mismatched.length > 0) {
    const seen = "Kept webhooks whose signature does not match the secret of the environment:";
    const count = `${mismatched.length} of ${names.length}; the newest is ${mismatched[0]}`;
    yield finding("refused_webhooks_mismatch", `${seen} ${count}. ${why}`);
  }

  const file = path.join(directory, matching[0] ?? "");
  const recorded =
    `${matching.length} match the secret now. To see whether the newest of these is recorded: ` +
    replayFile(file, envFiles);
  const count =
    unreadable !== ""
      ? `the directory cannot be read${unreadable}`
      : names.length === 0
        ? "no webhook is kept yet."
        : `the directory has ${names.length}; the newest is ${names[0]}. ${matching.length > 0 ? recorded : why}`;
  yield finding("refused_webhooks_kept", `Refused webhooks are kept in ${directory}; ${count}`);
}

async function isVerified(file: string, scheme: SignatureScheme): Promise<boolean> {
  try {
    const { headers, rawBody } = readCapturedRequest(await readFile(file));
    return await scheme.verify({ rawBody, headers: Object.fromEntries(headers) });
  } catch {
    // Another process has removed the file, or the scheme cannot read the webhook.
    return false;
  }
}
