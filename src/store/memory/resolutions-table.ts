import { TillkitError } from "../../errors/index.js";
import { type ResolutionRecord } from "../contract.js";

/** Resolutions as one transaction sees them. */
export class ResolutionsTable {
  readonly #committed = new Map<string, ResolutionRecord>();
  readonly #draft = new Map<string, ResolutionRecord>();

  insert(resolution: ResolutionRecord): void {
    const { id } = resolution;
    if (this.#committed.has(id) || this.#draft.has(id))
      throw new TillkitError("store_conflict", `The resolution ${id} exists already.`);
    this.#draft.set(id, { ...resolution });
  }

  history(clientId: string, limit: number): ResolutionRecord[] {
    const found = [...this.#committed.values()].filter((one) => one.clientId === clientId);
    return found.slice(-limit).map((one) => ({ ...one }));
  }

  commit(): void {
    for (const [id, resolution] of this.#draft) this.#committed.set(id, resolution);
    this.#draft.clear();
  }

  rollback(): void {
    this.#draft.clear();
  }
}
