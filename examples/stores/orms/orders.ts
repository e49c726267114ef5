/** The shop's orders, as every program of this folder offers them. */
export interface Orders {
  add(reference: string): Promise<unknown>;
  all(): Promise<unknown[]>;
  /** Runs work in a transaction of the ORM, inside the one of the handler. */
  nested(work: (orders: Orders) => Promise<unknown>): Promise<unknown>;
}
