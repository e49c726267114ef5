import { type PaymentStore } from "tillkit";
import type * as Tillkit from "tillkit";

/** A row that a handler writes in its transaction. */
export interface LedgerRow {
  client_id: string;
  reference: string;
  event_id: string;
  idempotency_key: string;
  attempt: number;
}

/** An empty folder, and a prefix that no other store has. */
export interface StoreAddress {
  folder: string;
  prefix: string;
}

/** A store of an example with a ledger beside it, for the tests and for `npm run crash -- --store-module`. */
export interface OpenedStore<Tx> {
  store: PaymentStore<Tx>;
  /** Adds a row to the ledger in the handler's transaction. */
  write: (tx: Tx, row: LedgerRow) => unknown;
  /** Makes the tables. */
  prepare?: () => Promise<void>;
  /** Returns the committed rows of the ledger. */
  rows: () => Promise<LedgerRow[]>;
  /** Drops what was made for this address, except the folder. */
  remove?: () => Promise<void>;
}

/** What a module of this folder exports. It gets the kit, because the harness compiles one of its own. */
export interface StoreModule<Tx> {
  create: (address: StoreAddress, tillkit: typeof Tillkit) => OpenedStore<Tx> | Promise<OpenedStore<Tx>>;
}
