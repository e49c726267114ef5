// npm test: the handlers of the shop with payments of the sandbox, on a new database each time.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { testPayments } from "tillkit/testing";
import { Orders } from "../dist/orders.js";
import { findProduct } from "../dist/products.js";
import { bookOrders } from "../dist/shop.js";

let shop;
let orders;
beforeEach(async () => {
  shop = await testPayments();
  orders = new Orders(shop.payments.store);
  await orders.open();
  bookOrders(shop.payments, orders);
});
afterEach(() => shop.close());

const total = { value: "1475", currency: "KMF" };
const place = () => orders.place(findProduct("cloves"));
const pieces = async () => (await orders.stock()).get("cloves");

test("an order reserves its piece, and is booked once when it is paid", async () => {
  const order = await place();
  assert.equal(await pieces(), 11);
  await shop.pay({ reference: order, total });
  await shop.sandbox.deliverAgain(shop.sandbox.deliveries[0].id);
  assert.deepEqual(await shop.settled(), []);
  assert.notEqual((await orders.find(order)).paidAt, undefined);
  assert.equal((await orders.ledger()).length, 1);
  assert.equal(await pieces(), 11);
});

test("nobody can order more pieces than there are", async () => {
  const placed = await Promise.all(Array.from({ length: 13 }, place));
  assert.equal(placed.filter((order) => order !== undefined).length, 12);
  assert.equal(await pieces(), 0);
});

test("the piece of a failed payment is free again", async () => {
  const order = await place();
  const { clientId } = await shop.payments.create({ reference: order, total });
  await shop.sandbox.change({ failureWebhook: true });
  await shop.sandbox.fail(clientId);
  assert.deepEqual(await shop.settled(), []);
  assert.equal(await pieces(), 12);
});

test("the piece of a canceled payment is free again", async () => {
  const order = await place();
  const { clientId } = await shop.payments.create({ reference: order, total });
  await shop.sandbox.change({ cancelWebhook: true });
  await shop.sandbox.cancel(clientId);
  assert.deepEqual(await shop.settled(), []);
  assert.equal(await pieces(), 12);
});

test("the piece of an order that nobody pays within a day is free again", async () => {
  await place();
  await orders.freeExpired(new Date(Date.now() + 25 * 60 * 60 * 1000));
  assert.equal(await pieces(), 12);
});

test("an order that is paid after its piece was freed and sold needs a person", async () => {
  const order = await place();
  await orders.freeExpired(new Date(Date.now() + 25 * 60 * 60 * 1000));
  await Promise.all(Array.from({ length: 12 }, place));
  await shop.pay({ reference: order, total });
  assert.deepEqual(await shop.settled(), []);
  assert.equal((await orders.attention())[0].kind, "order.sold_out");
  assert.equal(await pieces(), 0);
});
