import { EntitySchema, MikroORM, PostgreSqlKnexDialect, type SqlEntityManager } from "@mikro-orm/postgresql";
import { Pool } from "pg";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "./orders.js";

const Order = new EntitySchema<{ reference: string }>({
  name: "Order",
  tableName: "orders",
  properties: { reference: { type: "text", primary: true } },
});

/** The shop's orders in the transaction of a handler, through MikroORM. */
export function ordersIn(tx: SqlTx) {
  class Client extends PostgreSqlKnexDialect {
    acquireRawConnection = () => asPool(tx, Pool, this.connectionSettings.types).connect();
  }
  const pool = { min: 0, idleTimeoutMillis: 1 }; // Otherwise its timer runs until the process ends.
  const driverOptions = { client: Client };
  const options = { dbName: "shop", entities: [Order], connect: false, pool, driverOptions };
  return ordersOf(MikroORM.initSync(options).em.fork());
}

function ordersOf(em: SqlEntityManager): Orders {
  return {
    add: (reference: string) => em.insert(Order, { reference }),
    all: () => em.find(Order, {}),
    nested: (work) => em.transactional((inner) => work(ordersOf(inner))),
  };
}
