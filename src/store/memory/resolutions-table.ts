import { TillkitError } from "../../errors/index.js";
import { type ResolutionRecord } from "../payment-store.js";

/** What people settled. */
export class ResolutionsTable {
  readonly #committed = new Map<string, ResolutionRecord>();
  #draft: ResolutionRecord[] = [];

  insert(resolution: ResolutionRecord): void {
    const { id } = resolution;
    if (this.#committed.has(id) || this.#draft.some((one) => one.id === id))
      throw new TillkitError("store_conflict", `The resolution ${id} exists already.`);
    this.#draft.push({ ...resolution });
  }

  ofClientId(clientId: string): ResolutionRecord[] {
    const found = [...this.#committed.values()].filter((one) => one.clientId === clientId);
    return found.map((one) => ({ ...one }));
  }

  commit(): void {
    for (const resolution of this.#draft) this.#committed.set(resolution.id, resolution);
    this.#draft = [];
  }

  rollback(): void {
    this.#draft = [];
  }
}
