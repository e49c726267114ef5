import pg from "pg";
import { DataTypes, Sequelize, type Transaction } from "sequelize";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "./orders.js";

/** The shop's orders in the transaction of a handler, through Sequelize. */
export function ordersIn(tx: SqlTx) {
  // Sequelize makes its connections itself, of the class that it is given.
  const Client = function (config: { types: unknown }) {
    return asPool(tx, pg.Client, config.types);
  };
  const dialectModule = { ...pg, Client };
  // Without these two it changes settings of the session, which the next user of the connection would get.
  const settings = { keepDefaultTimezone: true, dialectOptions: { clientMinMessages: "ignore" } };
  const db = new Sequelize({ dialect: "postgres", dialectModule, logging: false, ...settings });
  const reference = { type: DataTypes.TEXT, primaryKey: true };
  const Order = db.define("orders", { reference }, { timestamps: false });
  const ordersOf = (options: { transaction?: Transaction } = {}): Orders => ({
    add: (reference: string) => Order.create({ reference }, { ...options }),
    all: () => Order.findAll({ raw: true, ...options }),
    nested: (work) => db.transaction(options, (transaction) => work(ordersOf({ transaction }))),
  });
  return ordersOf();
}
