import { type Arrival, type Receipt } from "./arrival.js";
import { GroupCommit } from "../../shared/group-commit.js";
import { type RecordingParts } from "./recording-parts.js";
import { rematch } from "./rematch.js";

/** Matches webhooks again after their commit, with payments that were stored between the decision and the commit. */
export class LateMatches<Tx> {
  readonly #parts: RecordingParts<Tx>;
  /** The clientIds of recorded webhooks with other prefixes, whose payments are looked for. */
  readonly #foreign: GroupCommit<string, undefined>;
  /** The look for the payment of each recorded webhook with another prefix. */
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

  /** Starts to match what one commit has recorded. A commit that came too late for its answers needs it too. */
  start(arrivals: readonly Arrival[], receipts: readonly Receipt[]): void {
    const latecomers = receipts.flatMap(({ outcome, clientId }, index) =>
      clientId !== undefined && (outcome === "unmatched" || arrivals[index]!.kind === "lookup")
        ? [clientId]
        : [],
    );
    // A creation looked for its webhooks before these were visible. A lookup may have decided a webhook that differs from it.
    if (latecomers.length > 0) this.#track(rematch(this.#parts, latecomers)); // The sweep looks again.
    for (const receipt of receipts) {
      if (!this.#isForeign(receipt)) continue;
      const look = this.#foreign.add(receipt.clientId);
      this.#looks.set(receipt, look);
      this.#track(look);
    }
  }

  /** Resolves when the answer to this webhook may be given; `undefined` for most, which need no look. */
  lookOf(receipt: Receipt): Promise<unknown> | undefined {
    return this.#looks.get(receipt);
  }

  /** Resolves when no webhook that was recorded until now is still being matched. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Keeps work that nothing may wait for, until it ends. */
  #track(work: Promise<unknown>): void {
    const running: Promise<unknown> = work.catch(() => {}).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Returns whether the webhook has another prefix. Copies count, because the process may have ended after the first commit. */
  #isForeign(receipt: Receipt): receipt is Receipt & { clientId: string } {
    const { clientIdPrefix = "" } = this.#parts.policy;
    const { outcome, clientId } = receipt;
    if (clientIdPrefix === "" || clientId === undefined || clientId.startsWith(clientIdPrefix)) return false;
    return outcome === "foreign" || outcome === "duplicate";
  }

  /**
   * Looks again for payments with other prefixes, before their webhooks are answered: one may have been adopted between the
   * decision "foreign" and its commit, and no sweep looks at such a webhook.
   */
  async #matchForeign(given: readonly string[]): Promise<undefined[]> {
    // Foreign webhooks can be many, and few are about an adopted payment: a read is cheaper than a transaction.
    const stored = await this.#parts.store.findMany({ clientIds: [...new Set(given)] });
    await rematch(
      this.#parts,
      stored.map(({ clientId }) => clientId),
    );
    return given.map(() => undefined);
  }
}
