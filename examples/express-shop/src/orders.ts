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

const tables = [
  `create table if not exists orders (id text primary key, product text not null, value text not null,
    currency text not null, placed_at text not null, paid_at text)`,
  `create table if not exists stock (product text primary key, pieces integer not null)`,
  // It has no unique key, to show that the handler alone books an order only once.
  `create table if not exists ledger (order_id text not null, client_id text not null, value text not null,
    currency text not null, at text not null)`,
  `create table if not exists attention (kind text not null, order_id text, detail text not null, at text not null)`,
];

/** The shop's own tables, in the database of the payment store. */
export class Orders {
  readonly #store: SqlPaymentStore;

  constructor(store: SqlPaymentStore) {
    this.#store = store;
  }

  async open(): Promise<void> {
    await this.#store.transaction(async (tx) => {
      for (const table of tables) await tx.query(table);
      for (const { id } of products)
        await tx.query("insert into stock values (?, 12) on conflict do nothing", [id]);
    });
  }

  /** Stores a new order and returns its id. Everybody who knows an id can see the order, so ids cannot be guessed. */
  async place({ id: product, price }: Product): Promise<string> {
    const id = randomId();
    const sql = "insert into orders (id, product, value, currency, placed_at) values (?, ?, ?, 'KMF', ?)";
    await this.#store.transaction((tx) => tx.query(sql, [id, product, price, new Date().toISOString()]));
    return id;
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
    const rows = await this.#query<{ product: string; pieces: number }>("select * from stock");
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
}

function orderOf(row: OrderRow): Order {
  return {
    id: row.id,
    product: row.product,
    total: { value: row.value, currency: row.currency },
    placedAt: row.placed_at,
    paidAt: row.paid_at ?? undefined,
  };
}

/** Returns sixty random bits in letters that are hard to confuse: `k7qf-m2xd-9rwt`. */
function randomId(): string {
  const letters = "0123456789abcdefghjkmnpqrstvwxyz";
  const text = [...randomBytes(12)].map((byte) => letters[byte % 32]).join("");
  return text.replace(/(.{4})(?=.)/g, "$1-");
}
