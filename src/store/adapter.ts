/** A record as the database has it. */
export interface StoredRecord {
  /** Printable ASCII; unique. */
  key: string;
  /** JSON, which only the kit reads. */
  value: string;
  /** 1 when the record is written for the first time; one more with each later write. */
  version: number;
}

/** One change of a record. */
export interface RecordChange {
  /** The key of the record. */
  key: string;
  /** The version that the database must have now; 0 where it must have no record with this key. */
  version: number;
  /** The new value, with the next version; `null` deletes the record. */
  value: string | null;
}

/** A range of keys. */
export interface KeyRange {
  /** The first key. */
  from: string;
  /** The end of the range, which is not part of it. */
  to: string;
  /** The number of records at most. */
  limit: number;
  /** Whether to begin with the last key. */
  reverse: boolean;
}

/** What every adapter does. */
interface AnyAdapter<Tx> {
  /** `false` where a commit can be lost in a crash. Such a store is refused when NODE_ENV is production. */
  readonly durable: boolean;
  /**
   * Returns those of at most 100 records that exist, in any order, as committed when it is called or later, also by other processes.
   * They may be of different moments. With `tx`, as its transaction sees them, which must not be an older snapshot.
   */
  read(keys: readonly string[], tx?: Tx): Promise<readonly StoredRecord[]>;
  /**
   * Returns the records of a range in the order of their keys, compared byte by byte. Keys are printable ASCII, without spaces, and at most
   * 500 characters long; the ends of a range can have a space. What is committed counts as in `read`.
   */
  scan(range: KeyRange, tx?: Tx): Promise<readonly StoredRecord[]>;
  /** The number of changes that one `write` can take, at least 60. A handler's items come on top of at most 3. @default no limit */
  readonly maxChanges?: number;
  /** Returns the database's clock, in milliseconds since 1970. Leases go by it. @default the clock of this process */
  now?(): Promise<number>;
  /** Makes the tables. Safe to call again, and from several processes at the same time. */
  migrate?(): Promise<void>;
  /** Releases the connections. */
  close?(): Promise<void>;
}

/** A database with transactions in which an application can read and write. */
export interface TransactionAdapter<Tx extends object> extends AnyAdapter<Tx> {
  /**
   * Begins, runs and commits durably. Rolls back and rejects with the same error if `run` rejects. `tx` is an object of its own for
   * each transaction; handlers get it. Where the connection was lost, its statements reject with a TillkitError `store_unavailable`: the
   * handler's run does then not count as failed.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Makes all changes inside the transaction, with every statement on `tx`, and resolves to `true`. Resolves to `false` where the version of any record is not the
   * expected one, and for nothing else; what it did until then is rolled back by the caller.
   */
  write(changes: readonly RecordChange[], tx: Tx): Promise<boolean>;
}

/** A database that writes several records all or nothing, and has no other transactions. */
export interface BatchAdapter<Item> extends AnyAdapter<undefined> {
  /** Absent: it tells the two kinds of adapters apart. */
  transaction?: never;
  /**
   * Makes all changes and the application's own writes durably, and resolves to `true`. Where a record does
   * not have the expected version, it writes nothing and resolves to `false`. Rejects with a TillkitError
   * `store_conflict` where a write of the application is refused: then the handler's run has failed.
   */
  write(changes: readonly RecordChange[], items: readonly Item[]): Promise<boolean>;
}

/** The transaction of a store over a {@link BatchAdapter}. */
export interface BatchTx<Item> {
  /** Adds writes of the application, which are made with the commit. They cannot be read before. */
  add(...items: readonly Item[]): void;
}
