// NestJS on Express. With decorators, write @Controller() and @Post() as usual.
import "reflect-metadata";
import { Controller, Module, Param, Post, Redirect } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { paymentRouter } from "tillkit";
import { fulfilOrder, total } from "./fulfil-order.mjs";

const router = paymentRouter();
router.payments.onPaymentCompleted(fulfilOrder);

class Checkout {
  async checkout(order) {
    const { checkoutUrl } = await router.payments.create({ reference: order, total });
    return { url: checkoutUrl, statusCode: 303 };
  }
}
const method = Object.getOwnPropertyDescriptor(Checkout.prototype, "checkout");
Post("checkout/:order")(Checkout.prototype, "checkout", method);
Redirect()(Checkout.prototype, "checkout", method);
Param("order")(Checkout.prototype, "checkout", 0);
Controller()(Checkout);

class ShopModule {}
Module({ controllers: [Checkout] })(ShopModule);

const app = await NestFactory.create(ShopModule, { logger: false });
// Before listen() and init(): Nest adds its own body parser and its 404 there.
app.use("/payments", router);
await app.listen(Number(process.env.PORT ?? 3000));
