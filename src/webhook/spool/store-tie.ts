import { TillkitError } from "../../errors/index.js";
import { withTimeout } from "../../shared/with-timeout.js";
import { failedWith, ifFound, segmentEnding, type SpoolDirectory, spoolFailure } from "./spool-directory.js";

/** The name of the file that names the store, in the directory of the segments. */
const tieFile = "store";

/** The maximum time in which `check` waits for the store, which may hang although the directory is right. */
const maxCheckMs = 1000;

/** The maximum time of a read or a write of this file, after which the disk hangs. */
const maxDiskMs = 5000;

/** The content of the file that names the store. */
export interface Tie {
  /** The store's identity. */
  store: string;
  /** The receiptId of a webhook that was in the store when this file was written. */
  webhook?: string;
  /** The clientId of a payment that was in the store when this file was written, if it was newer. */
  payment?: string;
}

/** Binds a directory to one store, so that its webhooks are never recorded in another store. */
export class StoreTie {
  readonly #directory: SpoolDirectory;
  readonly #identify: (() => Promise<string>) | undefined;
  #isTied: boolean;
  /** The problem of a disk that hangs, until the call of the disk ends. */
  #hanging: TillkitError | undefined;
  /** The reason why the directory cannot be used. Absent if there is none, or before the first `read`. */
  problem: TillkitError | undefined;

  constructor(directory: SpoolDirectory, identify: (() => Promise<string>) | undefined) {
    this.#directory = directory;
    this.#identify = identify;
    this.#isTied = !identify;
  }

  /**
   * Reads the store to which the directory belongs. If the directory belongs to no store, it now belongs to
   * this store. Resolves to `undefined` for a store that is not durable.
   *
   * @throws TillkitError `spool_unavailable` for the directory of another store, for a file that cannot be
   * read or written, or for a disk that hangs; `spool_full`; `path_exposed`; the errors of the store
   */
  async read(): Promise<Tie | undefined> {
    if (!this.#identify) return undefined;
    // If the store fails here, the directory may still be right, so the directory continues to accept
    // webhooks.
    const store = await this.#identify();
    const known = await this.#inTime(() => this.#known(store)).catch((error: unknown) => {
      throw (this.problem = spoolFailure(error, this.#directory.path));
    });
    this.problem = undefined;
    this.#isTied = true;
    return known;
  }

  /** Throws as `read` does, and reads nothing after the first success. */
  async require(): Promise<void> {
    if (this.problem || !this.#isTied) await this.read();
  }

  /**
   * Throws the problem. Before the first `read`, reads a directory that already belongs to a store, so that
   * `tillkit doctor` also finds the problem.
   */
  async check(): Promise<void> {
    const isUnknown = !this.problem && !this.#isTied;
    if (isUnknown && (await this.#directory.find(tieFile)))
      await withTimeout(
        this.read().catch(() => {}),
        maxCheckMs,
      );
    if (this.problem) throw this.problem;
  }

  /** Writes the identity of the store, and a webhook or payment in the store, into the file. */
  async remember(tie: Tie): Promise<void> {
    await this.#inTime(() => this.#directory.write(tieFile, JSON.stringify(tie), "rename"));
  }

  /**
   * Calls `work`, with a limit of time. While the disk hangs, throws and does not call it, because each call
   * that hangs occupies one of the few threads of Node. When the disk answers, the problem ends, also while
   * the store is away.
   */
  async #inTime<T>(work: () => Promise<T>): Promise<T> {
    if (this.#hanging) throw this.#hanging;
    const working = work();
    return withTimeout(working, maxDiskMs, () => {
      const cause = new Error(`The disk did not answer within ${maxDiskMs} ms.`);
      const hanging = (this.#hanging = spoolFailure(cause, this.#directory.path));
      const end = (): void => {
        this.#hanging = undefined;
        if (this.problem === hanging) this.problem = undefined;
      };
      working.then(end, end);
      return hanging;
    });
  }

  async #known(store: string): Promise<Tie> {
    const known = (await this.#find()) ?? (await this.#name({ store }));
    if (known.store !== store) throw await foreignTo(this.#directory);
    return known;
  }

  async #find(): Promise<Tie | undefined> {
    const content = await ifFound(this.#directory.read(tieFile));
    if (!content) return undefined;
    try {
      const { store, webhook, payment } = JSON.parse(String(content)) as Tie;
      if (typeof store !== "string") throw new TypeError("The file names no store.");
      if (typeof payment === "string") return { store, payment };
      return typeof webhook === "string" ? { store, webhook } : { store };
    } catch {
      // The error below reports the damage.
    }
    throw new Error(`The file ${this.#directory.file(tieFile)} is damaged. Remove it.`);
  }

  async #name(tie: Tie): Promise<Tie> {
    await this.#directory.make();
    try {
      await this.#directory.write(tieFile, JSON.stringify(tie), "link");
    } catch (error) {
      // EEXIST means that another process was faster. The store of that process is used.
      if (!failedWith(error, "EEXIST")) throw error;
      return (await this.#find())!;
    }
    await this.#directory.sync();
    return tie;
  }
}

async function foreignTo(directory: SpoolDirectory): Promise<TillkitError> {
  const segments = await directory.list().catch(() => []);
  const content =
    segments.length === 0
      ? "No webhook waits in it."
      : `Webhooks of the other store wait in it (files *${segmentEnding}: ${segments.length}).`;
  return new TillkitError(
    "spool_unavailable",
    `The spool ${directory.path} belongs to another store: the database was replaced by a new one, or another shop uses it. ${content} ` +
      "If the database is new on purpose, stop the app and remove this directory. If not, put the old database back, or name another " +
      "directory for this shop (TILLKIT_SPOOL).",
    {
      fix: "Remove the directory, put the old database back, or name another directory, as the message says.",
    },
  );
}
