import { type Arrival, type Receipt } from "./arrival.js";
import { GroupCommit } from "../../shared/group-commit.js";
import { withTimeout } from "../../shared/with-timeout.js";
import { type RecordingParts } from "./recording-parts.js";
import { rematch } from "./rematch.js";

/** The maximum time for which a sweep waits for a match, because a call of the store may never end. */
const maxMatchMs = 10_000;

/**
 * Matches webhooks again after their commit. The payment of a webhook may be stored between the decision and
 * the commit.
 */
export class LateMatches<Tx> {
  readonly #parts: RecordingParts<Tx>;
  /** Searches for payments by the clientIds of webhooks with other prefixes, in groups. */
  readonly #foreign: GroupCommit<string, undefined>;
  /** The search for the payment of each recorded webhook with another prefix. */
  readonly #looks = new WeakMap<Receipt, Promise<unknown>>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(parts: RecordingParts<Tx>, deadlineMs: number) {
    this.#parts = parts;
    this.#foreign = new GroupCommit({
      write: (clientIds: readonly string[]) => this.#matchForeign(clientIds),
      maxGroup: parts.maxGroup,
      deadlineMs,
    });
  }

  /** Starts to match the webhooks of one commit, even if the commit ended after its deadline. */
  start(arrivals: readonly Arrival[], receipts: readonly Receipt[]): void {
    const latecomers = receipts.flatMap(({ outcome, clientId }, index) =>
      clientId !== undefined && (outcome === "unmatched" || arrivals[index]!.kind === "lookup")
        ? [clientId]
        : [],
    );
    // A creation may have looked for its webhooks before this commit. After the answer to a lookup, parked
    // webhooks that differ from the answer can be decided too.
    if (latecomers.length > 0) this.#track(rematch(this.#parts, latecomers)); // The sweep repeats a failure.
    for (const receipt of receipts) {
      if (!this.#isForeign(receipt)) continue;
      const look = this.#foreign.add(receipt.clientId);
      this.#looks.set(receipt, look);
      this.#track(look);
    }
  }

  /** Returns the promise for which the response to the webhook must wait, or `undefined`. */
  lookOf(receipt: Receipt): Promise<unknown> | undefined {
    return this.#looks.get(receipt);
  }

  /** Resolves when no webhook that was recorded until now is still being matched. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /**
   * Remembers running work until it ends, or for `maxMatchMs`. No caller waits for this work, so its
   * rejection is ignored.
   */
  #track(work: Promise<unknown>): void {
    const ended = withTimeout(work, maxMatchMs, undefined, { unref: true }).catch(() => {});
    const running: Promise<unknown> = ended.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /**
   * Returns whether the webhook has another prefix. Duplicates are included, because the first search may
   * have failed.
   */
  #isForeign(receipt: Receipt): receipt is Receipt & { clientId: string } {
    const { clientIdPrefix = "" } = this.#parts.policy;
    const { outcome, clientId } = receipt;
    if (clientIdPrefix === "" || clientId === undefined || clientId.startsWith(clientIdPrefix)) return false;
    return outcome === "foreign" || outcome === "duplicate";
  }

  /**
   * Looks again for payments with other prefixes, before their webhooks are answered. A payment may have been
   * adopted between the decision `foreign` and its commit, and no sweep looks at foreign webhooks.
   */
  async #matchForeign(given: readonly string[]): Promise<undefined[]> {
    // There can be many foreign webhooks, and few are about an adopted payment. A read is cheaper than a
    // transaction.
    const stored = await this.#parts.store.findMany({ clientIds: [...new Set(given)] });
    await rematch(
      this.#parts,
      stored.map(({ clientId }) => clientId),
    );
    return given.map(() => undefined);
  }
}
