// A shop with Mongoose 9: its orders and the records of the kit are in one database, and one transaction commits both.
import mongoose from "mongoose";
import { createPayments, hmacSignature, storeOver } from "tillkit";
import { mongodbAdapter } from "./mongodb.js";

const Order = mongoose.model("Order", new mongoose.Schema({ _id: String, paid: Boolean }));

export async function openShop(mongodbUrl: string) {
  await mongoose.connect(mongodbUrl, { serverSelectionTimeoutMS: 5000 });
  const payments = createPayments({
    publicUrl: "https://shop.example/payments",
    service: { baseUrl: "https://pay.example", accessToken: process.env.PAY_TOKEN },
    signature: hmacSignature({ secret: process.env.PAY_WEBHOOK_SECRET }),
    store: storeOver(mongodbAdapter(mongoose.connection.getClient().db())),
  });

  payments.onPaymentCompleted(async ({ payment }, { tx }) => {
    tx.add(async (session) => {
      const { matchedCount } = await Order.updateOne({ _id: payment.reference }, { paid: true }, { session });
      if (matchedCount !== 1) throw new Error(`There is no order ${payment.reference}.`);
    });
  });
  return payments;
}
