import { randomBytes } from "node:crypto";
import { type Money } from "tillkit";
import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { products, type Product } from "./products.js";

export interface Order {
  id: string;
  product: string;
  total: Money;
  placedAt: string;
  paidAt: string | undefined;
  /** Whether a piece is taken out of the stock for this order. */
  reserved: boolean;
}

/** One entry of the shopkeeper's list. */
export interface Attention {
  kind: string;
  orderId?: string | undefined;
  detail: string;
}

export interface LedgerRow {
  orderId: string;
  clientId: string;
  value: string;
  currency: string;
  at: string;
}

/** The steps to the newest tables. A new step goes to the end; a step that has run somewhere never changes. */
const migrations = [
  `create table if not exists orders (id text primary key, product text not null, value text not null,
    currency text not null, placed_at text not null, paid_at text)`,
  `create table if not exists stock (product text primary key, pieces integer not null)`,
  // It has no unique key, to show that the handler alone books an order only once.
  `create table if not exists ledger (order_id text not null, client_id text not null, value text not null,
    currency text not null, at text not null)`,
  `create table if not exists attention (kind text not null, order_id text, detail text not null, at text not null)`,
  `alter table orders add column reserved_at text`,
  `create table shelf (product text primary key, pieces integer not null check (pieces >= 0))`,
  `insert into shelf select product, max(pieces, 0) from stock`,
  `drop table stock`,
];

/** How long an order without a payment keeps its piece. */
const reservedForMs = 24 * 60 * 60 * 1000;

/** The shop's own tables, in the database of the payment store. */
export class Orders {
  readonly #store: SqlPaymentStore;

  constructor(store: SqlPaymentStore) {
    this.#store = store;
  }

  async open(): Promise<void> {
    await this.#store.transaction(async (tx) => {
      await tx.query("create table if not exists shop_version (version integer not null)");
      const { rows } = await tx.query<{ version: number }>("select version from shop_version");
      for (const step of migrations.slice(rows[0]?.version ?? 0)) await tx.query(step);
      await tx.query("delete from shop_version");
      await tx.query("insert into shop_version values (?)", [migrations.length]);
      for (const { id } of products)
        await tx.query("insert into shelf values (?, 12) on conflict do nothing", [id]);
    });
  }

  /**
   * Stores a new order, reserves its piece, and returns the order's id; `undefined` if the product is sold out. Everybody who knows
   * an id can see the order, so ids cannot be guessed.
   */
  async place({ id: product, price }: Product): Promise<string | undefined> {
    const id = randomId();
    const sql = "insert into orders (id, product, value, currency, placed_at) values (?, ?, ?, 'KMF', ?)";
    return this.#store.transaction(async (tx) => {
      await tx.query(sql, [id, product, price, new Date().toISOString()]);
      if (await this.reserve(tx, id)) return id;
      await tx.query("delete from orders where id = ?", [id]);
      return undefined;
    });
  }

  /** Reserves the piece of an order again, before its customer goes to the checkout. Resolves to `false` if it is sold out. */
  reserveAgain(id: string): Promise<boolean> {
    return this.#store.transaction((tx) => this.reserve(tx, id));
  }

  /** Takes the piece of an order out of the stock, once. Resolves to `false` if none is left. */
  async reserve(tx: SqlTx, id: string): Promise<boolean> {
    const order = "select product from orders where id = ? and reserved_at is null";
    const { rows } = await tx.query<{ product: string }>(order, [id]);
    if (rows.length === 0) return true;
    const take = "update shelf set pieces = pieces - 1 where product = ? and pieces > 0";
    const { affected } = await tx.query(take, [rows[0]!.product]);
    if (affected === 0) return false;
    await tx.query("update orders set reserved_at = ? where id = ?", [new Date().toISOString(), id]);
    return true;
  }

  /** Puts the piece of an order back into the stock, unless the order is paid. */
  async free(tx: SqlTx, id: string): Promise<void> {
    const open = "id = ? and reserved_at is not null and paid_at is null";
    const back = "update shelf set pieces = pieces + 1 where product = (select product from orders where";
    await tx.query(`${back} ${open})`, [id]);
    await tx.query(`update orders set reserved_at = null where ${open}`, [id]);
  }

  /** Frees the pieces of orders that nobody paid within a day. */
  async freeExpired(now = new Date()): Promise<void> {
    const until = new Date(now.getTime() - reservedForMs).toISOString();
    const sql = "select id from orders where paid_at is null and reserved_at < ?";
    const expired = await this.#query<{ id: string }>(sql, [until]);
    for (const { id } of expired) await this.#store.transaction((tx) => this.free(tx, id));
  }

  async find(id: string): Promise<Order | undefined> {
    const [row] = await this.#query<OrderRow>("select * from orders where id = ?", [id]);
    return row && orderOf(row);
  }

  /** Returns the newest 100 orders. */
  async list(): Promise<Order[]> {
    return (await this.#query<OrderRow>("select * from orders order by placed_at desc limit 100")).map(
      orderOf,
    );
  }

  async stock(): Promise<Map<string, number>> {
    const rows = await this.#query<{ product: string; pieces: number }>("select * from shelf");
    return new Map(rows.map(({ product, pieces }) => [product, pieces]));
  }

  ledger(): Promise<LedgerRow[]> {
    return this.#query(
      `select order_id as "orderId", client_id as "clientId", value, currency, at from ledger order by at desc`,
    );
  }

  /** Adds an entry through the `tx` of a handler. */
  async note(tx: SqlTx, { kind, orderId, detail }: Attention): Promise<void> {
    await tx.query("insert into attention (kind, order_id, detail, at) values (?, ?, ?, ?)", [
      kind,
      orderId,
      detail,
      new Date().toISOString(),
    ]);
  }

  attention(): Promise<(Attention & { at: string })[]> {
    return this.#query(
      `select kind, order_id as "orderId", detail, at from attention order by at desc limit 100`,
    );
  }

  /** Reads what is committed. It never waits for a handler, as a transaction would: SQLite has one writer. */
  async #query<Row = Record<string, unknown>>(sql: string, params: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#store.query<Row>(sql, params)).rows;
  }
}

interface OrderRow {
  id: string;
  product: string;
  value: string;
  currency: string;
  placed_at: string;
  paid_at: string | null;
  reserved_at: string | null;
}

function orderOf(row: OrderRow): Order {
  return {
    id: row.id,
    product: row.product,
    total: { value: row.value, currency: row.currency },
    placedAt: row.placed_at,
    paidAt: row.paid_at ?? undefined,
    reserved: row.reserved_at !== null,
  };
}

/** Returns sixty random bits in letters that are hard to confuse: `k7qf-m2xd-9rwt`. */
function randomId(): string {
  const letters = "0123456789abcdefghjkmnpqrstvwxyz";
  const text = [...randomBytes(12)].map((byte) => letters[byte % 32]).join("");
  return text.replace(/(.{4})(?=.)/g, "$1-");
}
