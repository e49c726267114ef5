import { type Handler } from "tillkit";

export const fulfilOrder: Handler<"payment.completed"> = async ({ payment }, { tx }) => {
  const { affected } = await tx.query("update orders set paid = 1 where id = ?", [payment.reference]);
  if (affected !== 1) throw new Error(`There is no order ${payment.reference}.`);
};
