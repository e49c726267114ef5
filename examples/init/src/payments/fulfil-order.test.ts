import assert from "node:assert/strict";
import { test } from "node:test";
import { testPayments } from "tillkit/testing";
import { fulfilOrder } from "./fulfil-order.js";

test("a paid order is marked as paid", async (t) => {
  const { payments, pay, settled, close } = await testPayments();
  t.after(close);
  const { store } = payments;
  await store.transaction(async (tx) => {
    await tx.query("create table orders (id text primary key, paid integer not null default 0)");
    await tx.query("insert into orders (id) values ('order-1')");
  });
  payments.onPaymentCompleted(fulfilOrder);

  await pay({ reference: "order-1", total: { value: "1475", currency: "KMF" } });
  assert.deepEqual(await settled(), []); // no dispatch is dead
  const { rows } = await store.transaction((tx) => tx.query("select id, paid from orders"));
  assert.deepEqual(rows, [{ id: "order-1", paid: 1 }]);
});
