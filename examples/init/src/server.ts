import express from "express";
import { payments, router } from "./payments/router.js";

const app = express();
app.use("/payments", router); // before express.json()

app.get("/", (_request, response) => {
  response.send(`<form method="post" action="/checkout/${Date.now()}"><button>Buy</button></form>`);
});
app.post("/checkout/:order", async (request, response) => {
  const reference = request.params.order;
  await payments.store.transaction(async (tx) => {
    await tx.query(
      "create table if not exists orders (id text primary key, paid integer not null default 0)",
    );
    await tx.query("insert into orders (id) values (?) on conflict do nothing", [reference]);
  });
  const { checkoutUrl } = await payments.create({ reference, total: { value: "1475", currency: "KMF" } });
  response.redirect(303, checkoutUrl);
});
app.listen(3000, () => console.log("Buy something at http://localhost:3000"));
