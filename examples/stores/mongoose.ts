import express from "express";
import mongoose from "mongoose";
import { paymentRouter, storeOver } from "tillkit";
import { mongodbAdapter } from "./mongodb.js";

const Order = mongoose.model("Order", new mongoose.Schema({ _id: String, paid: Boolean }));

export async function openShop(mongodbUrl: string) {
  await mongoose.connect(mongodbUrl);
  const store = storeOver(mongodbAdapter(mongoose.connection.getClient().db()));
  const router = paymentRouter({ store }); // The other options come from the environment.

  router.payments.onPaymentCompleted(async ({ payment }, { tx }) => {
    tx.add(async (session) => {
      const { matchedCount } = await Order.updateOne({ _id: payment.reference }, { paid: true }, { session });
      if (matchedCount !== 1) throw new Error(`There is no order ${payment.reference}.`);
    });
  });
  return { app: express().use("/payments", router), payments: router.payments };
}
