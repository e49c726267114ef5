/** A record in the database. */
export interface StoredRecord {
  /** The key, which is unique and consists of printable ASCII characters without spaces. */
  key: string;
  /** The value in JSON. Only the kit reads it. */
  value: string;
  /** The number of writes of the record: 1 after the first write. */
  version: number;
}

/** One change of a record. */
export interface RecordChange {
  /** The key of the record. */
  key: string;
  /** The version that the database must have now. 0 means that it must have no record with this key. */
  version: number;
  /** The new value. The write also sets the record's version to `version + 1`. `null` deletes the record. */
  value: string | null;
}

/** A range of keys. */
export interface KeyRange {
  /** The first key of the range. */
  from: string;
  /** The end of the range. A record with this key does not belong to the range. */
  to: string;
  /** The maximum number of records. */
  limit: number;
  /** Whether to begin with the last key. */
  reverse: boolean;
}

/** The members that both kinds of adapters have. */
interface AnyAdapter<Tx> {
  /** `false` if a crash can lose a commit. The kit refuses such a store when NODE_ENV is production. */
  readonly durable: boolean;
  /**
   * Returns the existing records among at most 100 keys, in any order. A record must be as new as the last
   * commit before this call, even if another process made the commit. The records may be of different
   * moments. With `tx`, returns the records as this transaction sees them. Even then, a snapshot that is
   * older than the call is not allowed.
   */
  read(keys: readonly string[], tx?: Tx): Promise<readonly StoredRecord[]>;
  /**
   * Returns the records of a range in the order of their keys, compared byte by byte, or in reverse order.
   * Keys are printable ASCII without spaces, and have at most 500 characters. The ends of a range can contain
   * a space. As in `read`, the result must include every earlier commit.
   */
  scan(range: KeyRange, tx?: Tx): Promise<readonly StoredRecord[]>;
  /**
   * The maximum number of changes in one `write`, at least 60. If a `write` also has items of a handler, it
   * has at most 3 changes. @default no limit
   */
  readonly maxChanges?: number;
  /**
   * Returns the time of the database's clock, in milliseconds since 1970. Leases use this clock.
   * @default the clock of this process
   */
  now?(): Promise<number>;
  /** Creates the tables. Several calls, even from several processes at the same time, are safe. */
  migrate?(): Promise<void>;
  /** Releases the connections. */
  close?(): Promise<void>;
}

/** A database with transactions in which an application can read and write. */
export interface TransactionAdapter<Tx extends object> extends AnyAdapter<Tx> {
  /**
   * Begins a transaction, runs `run` and commits durably. If `run` rejects, rolls back and rejects with the
   * same error. `tx` is a separate object for each transaction, and handlers get it. After its end, `tx` must
   * refuse statements, because another transaction may have its connection. After the connection is lost, the
   * statements of `tx` must reject with a TillkitError `store_unavailable`. Such a run of a handler does not
   * count as failed, unless the five runs before it ended in the same way.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Makes all changes inside the transaction, with every statement on `tx`, and resolves to `true`. Resolves
   * to `false` if a record does not have the expected version, and for no other reason. The caller then rolls
   * back.
   */
  write(changes: readonly RecordChange[], tx: Tx): Promise<boolean>;
}

/** A database that writes several records all or nothing, and that has no other transactions. */
export interface BatchAdapter<Item> extends AnyAdapter<undefined> {
  /** Always absent. The kit recognises a batch adapter by the absence of this member. */
  transaction?: never;
  /**
   * Makes all changes and the application's own writes durably, and resolves to `true`. If a record does not
   * have the expected version, writes nothing and resolves to `false`. Rejects with a TillkitError
   * `store_conflict` if the database refuses a write of the application. The handler's run has then failed.
   */
  write(changes: readonly RecordChange[], items: readonly Item[]): Promise<boolean>;
}

/** The transaction of a store over a {@link BatchAdapter}. */
export interface BatchTx<Item> {
  /** Adds writes of the application. The commit makes these writes, so they cannot be read before. */
  add(...items: readonly Item[]): void;
}
