import { type EventEmitter } from "node:events";
import { DataTypes, Sequelize, type Transaction } from "sequelize";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "../orders.js";

/** The shop's orders in the transaction of a handler, through Sequelize. */
export function ordersIn(tx: SqlTx) {
  // Sequelize makes its connections itself, with the driver that it is given.
  const createConnection = () => {
    const connection = asPool<EventEmitter>(tx);
    setImmediate(() => connection.emit("connect"));
    return Object.assign(connection, { stream: {} });
  };
  const dialectModule = { createConnection };
  // Without this it changes the time zone of the session, which the next user of the connection would get.
  const settings = { keepDefaultTimezone: true };
  const db = new Sequelize({ dialect: "mysql", dialectModule, logging: false, ...settings });
  const reference = { type: DataTypes.STRING(64), primaryKey: true };
  const Order = db.define("orders", { reference }, { timestamps: false });
  const ordersOf = (options: { transaction?: Transaction } = {}): Orders => ({
    add: (reference) => Order.create({ reference }, { ...options }),
    all: () => Order.findAll({ raw: true, ...options }),
    nested: (work) => db.transaction(options, (transaction) => work(ordersOf({ transaction }))),
  });
  return ordersOf();
}
