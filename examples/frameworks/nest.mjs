// NestJS on Express. With decorators, write @Controller() and @Post() as usual.
import "reflect-metadata";
import { Controller, Module, Param, Post, Redirect } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };

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
// Before listen() and init(): later, Nest answers 404 before the router gets the request.
app.use("/payments", router);
await app.listen(Number(process.env.PORT ?? 3000));
