import { createRequire } from "node:module";

const { openStore } = createRequire(import.meta.url)("./open-store.cjs");

const tables = ["payments", "webhooks", "events", "handlers", "dispatches", "resolutions", "meta", "ledger"];

/** The harness's access to the database of one run, through a store of its own and plain SQL. */
export class Database {
  #kit;
  #store;

  constructor(kit, address) {
    this.#kit = kit;
    this.address = address;
  }

  async prepare(payments) {
    const { kind, prefix } = this.address;
    const text = kind === "mysql" ? "varchar(120)" : "text";
    await this.query(
      `create table ${prefix}ledger (client_id ${text}, reference ${text}, event_id ${text}, idempotency_key ${text},
        attempt integer)`,
    );
    for (let from = 0; from < payments.length; from += 500) {
      const created = payments.slice(from, from + 500);
      const store = await this.#opened;
      await store.transaction((tx) => store.save(tx, { created }));
    }
  }

  get #opened() {
    return (this.#store ??= openStore(this.#kit, this.address).then(({ store }) => store));
  }

  async query(sql) {
    const store = await this.#opened;
    await store.migrate();
    return (await store.transaction((tx) => tx.query(sql))).rows;
  }

  /** Returns what is stored, read from the tables. */
  async records() {
    const { prefix } = this.address;
    return {
      payments: await this.query(`select client_id, state, status from ${prefix}payments`),
      webhooks: await this.query(
        `select receipt_id, client_id, status, outcome, copies from ${prefix}webhooks`,
      ),
      dispatches: await this.query(`select event_id, handler, state from ${prefix}dispatches`),
      unexpanded: await this.query(`select id from ${prefix}events where ${this.isUnexpanded}`),
      ledger: await this.query(`select * from ${prefix}ledger`),
    };
  }

  /** The SQL condition of an event that was not dispatched to its handlers yet. */
  get isUnexpanded() {
    const { kind, prefix } = this.address;
    const expanded = `(select cast(value as integer) from ${prefix}meta where name = 'expanded')`;
    return kind === "sqlite" ? `seq > ${expanded}` : "unexpanded = 1";
  }

  /** Returns the number of events and dispatches that are not settled yet. */
  async undone() {
    const { prefix } = this.address;
    const [row] = await this.query(
      `select (select count(*) from ${prefix}events where ${this.isUnexpanded}) as events,
        (select count(*) from ${prefix}dispatches where state in ('pending', 'leased')) as dispatches`,
    );
    return Number(row.events) + Number(row.dispatches);
  }

  async drop() {
    for (const table of tables) await this.query(`drop table if exists ${this.address.prefix}${table}`);
  }

  /** Closes the connections to a killed server. The next query opens new ones. */
  async close() {
    const store = this.#store;
    this.#store = undefined;
    await (await store)?.close();
  }
}
