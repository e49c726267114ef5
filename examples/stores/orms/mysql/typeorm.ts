import { DataSource, type EntityManager, EntitySchema } from "typeorm";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "../orders.js";

const Order = new EntitySchema<{ reference: string }>({
  name: "Order",
  tableName: "orders",
  columns: { reference: { type: "varchar", length: 64, primary: true } },
});

/** The shop's orders in the transaction of a handler, through TypeORM. */
export async function ordersIn(tx: SqlTx) {
  // TypeORM makes its pool itself with the driver that it is given.
  const createPool = () => asPool(tx);
  const source = new DataSource({ type: "mysql", driver: { createPool }, entities: [Order] });
  return ordersOf((await source.initialize()).manager);
}

function ordersOf(manager: EntityManager): Orders {
  return {
    add: (reference: string) => manager.insert(Order, { reference }),
    all: () => manager.find(Order),
    nested: (work) => manager.transaction((inner) => work(ordersOf(inner))),
  };
}
