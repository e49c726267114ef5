import { randomBytes } from "node:crypto";
import { lstat } from "node:fs/promises";
import { type Logger } from "pino";
import { loggable } from "../errors/conceal-secrets.js";
import { doctorAgent, refusedEnding, refusedFiles, verifyLast } from "../shared/refused-files.js";
import { type VerifyInput } from "./signature/scheme.js";
import { ifFound, realFileSystem, SpoolDirectory } from "./spool/spool-directory.js";

/** The limits of the directory. `webhook.keepRefused` documents them. */
export const refusedLimits = {
  files: 100,
  bytes: 8 * 1024 * 1024,
  fileBytes: 1024 * 1024,
  ageMs: 7 * 24 * 60 * 60 * 1000,
  /** The number of webhooks that are kept in a row. After these, at most one webhook a second is kept. */
  burst: 20,
} as const;

/** The interval at which old files are removed while no webhook is refused. */
const pruneMs = 60 * 60 * 1000;

/** Headers that can help to find out why a signature does not match. */
const keptHeaders =
  /sign|hmac|digest|hash|webhook|event|timestamp|^(content-(type|length)|user-agent|host|date)$/i;
const signatureHeaders = /sign|hmac|digest|hash/i;
const secretHeaders = /token|secret|key|pass|credential|auth$/i;
/** Headers that are never kept. A browser, a proxy or a service sends credentials in them. */
const credentialHeaders = /authorization|cookie/i;

/** The parts of the kit that {@link RefusedWebhooks} uses. */
interface RefusedParts {
  directory: string;
  /**
   * The name of the signature's header. This header is kept, unless its name is one for credentials, such as
   * `Authorization` or `X-Webhook-Token`. Its value may then be a secret, and not a signature.
   */
  header: string;
  logger: Logger;
  now: () => Date;
}

/**
 * Keeps refused webhooks as files that `tillkit verify` reads. `keep` never waits and never throws. Webhooks
 * beyond the limits are not kept, and a failure is logged.
 */
export class RefusedWebhooks {
  readonly #parts: RefusedParts;
  readonly #directory: SpoolDirectory;
  #timer: NodeJS.Timeout | undefined;
  #tokens: number = refusedLimits.burst;
  #countedAt = performance.now();
  #waiting = 0;
  #writing = Promise.resolve();
  #isFailing = false;

  constructor(parts: RefusedParts) {
    this.#parts = parts;
    this.#directory = new SpoolDirectory(parts.directory, realFileSystem);
  }

  /** Logs that refused webhooks are kept, and removes old ones now and every hour. */
  start(): void {
    const { directory, logger } = this.#parts;
    if (this.#timer) return;
    this.#timer = setInterval(() => this.#enqueue(() => this.#prune()), pruneMs).unref();
    logger.warn(
      { option: "webhook.keepRefused" },
      `refused webhooks are kept in ${directory}, the newest ${refusedLimits.files} for a week at most, with what they say about ` +
        `customers; see why the newest was refused: ${verifyLast(directory)}`,
    );
    this.#enqueue(async () => {
      await this.#directory.make();
      await this.#prune();
    });
  }

  keep(request: VerifyInput, reason: string): void {
    if (request.headers["user-agent"] === doctorAgent) return;
    if (this.#waiting >= refusedLimits.burst || !this.#spend()) return;
    const at = this.#parts.now().toISOString();
    const content = Buffer.concat([
      headOf(request, { reason, at, header: this.#parts.header }),
      request.rawBody,
    ]);
    if (content.length > refusedLimits.fileBytes) return;
    const name = `${at.replaceAll(/[:.]/g, "-")}-${reason}-${randomBytes(4).toString("hex")}${refusedEnding}`;
    this.#enqueue(async () => {
      await this.#directory.make();
      await this.#directory.write(name, content, "rename");
      await this.#prune();
    });
  }

  /** Resolves when every kept webhook is written. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  /** Counts one webhook in a token bucket, so that a flood costs neither disk nor time. */
  #spend(): boolean {
    const now = performance.now();
    this.#tokens = Math.min(refusedLimits.burst, this.#tokens + (now - this.#countedAt) / 1000);
    this.#countedAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #enqueue(task: () => Promise<void>): void {
    this.#waiting += 1;
    this.#writing = this.#writing
      .then(task)
      .then(
        () => void (this.#isFailing = false),
        (error: unknown) => this.#report(error),
      )
      .finally(() => void (this.#waiting -= 1));
  }

  #report(error: unknown): void {
    // Logs one line each time that keeping begins to fail.
    if (!this.#isFailing) {
      this.#parts.logger.warn(
        { option: "webhook.keepRefused", err: loggable(error) },
        `refused webhooks cannot be kept in ${this.#parts.directory}`,
      );
    }
    this.#isFailing = true;
  }

  /** Removes the oldest files beyond the limits, and the drafts that a crash has left. */
  async #prune(): Promise<void> {
    await this.#directory.removeOldDrafts();
    let [files, bytes] = [0, 0];
    for (const name of await refusedFiles(this.#directory.path)) {
      const stats = await ifFound(lstat(this.#directory.file(name)));
      if (!stats) continue;
      files += 1;
      bytes += stats.size;
      const isOld = Date.now() - stats.mtimeMs > refusedLimits.ageMs;
      if (isOld || files > refusedLimits.files || bytes > refusedLimits.bytes)
        await this.#directory.remove(name);
    }
  }
}

/** Returns the request line, the kit's notes, the headers that may be kept, and an empty line. */
function headOf(
  { method = "POST", url = "/", headers }: VerifyInput,
  { reason, at, header }: { reason: string; at: string; header: string },
): Buffer {
  const isKept = (name: string): boolean => {
    if (credentialHeaders.test(name)) return false;
    const isOfScheme = name.toLowerCase() === header.toLowerCase();
    if (secretHeaders.test(name)) return isOfScheme && signatureHeaders.test(name);
    return isOfScheme || keptHeaders.test(name);
  };
  // The query may contain a secret.
  const path = url.split("?", 1)[0]!.replace(/[^\x21-\x7e]/g, "_");
  const given = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && /^[\w-]{1,64}$/.test(name),
  );
  const leftOut = given.map(([name]) => name).filter((name) => !isKept(name));
  const lines = [
    `${/^[A-Z]+$/.test(method) ? method : "POST"} ${path} HTTP/1.1`,
    `Tillkit-Refused: ${reason}`,
    `Tillkit-Received: ${at}`,
    ...(leftOut.length > 0 ? [`Tillkit-Left-Out: ${leftOut.join(", ")}`] : []),
    ...given
      .filter(([name]) => isKept(name))
      .flatMap(([name, value]) =>
        [value ?? []].flat().map((one) => `${name}: ${one.replace(/[\r\n\0]/g, " ")}`),
      ),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}
