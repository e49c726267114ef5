import express from "express";
import { DatabaseSync } from "./database.js";

const database = new DatabaseSync(process.env.TILLKIT_DATABASE ?? "shop.db");
database.exec(
  "create table if not exists orders (id text primary key, total integer not null, paid integer not null default 0)",
);
database.exec("insert or ignore into orders (id, total) values ('order-1', 1475), ('order-2', 500)");
const find = (id) => database.prepare("select id, total, paid from orders where id = ?").get(id);

const app = express();
// Every route of this application gets a parsed body.
app.use(express.json());

app.get("/orders/:id", (req, res) => {
  const order = find(req.params.id);
  if (!order) return res.status(404).json({ error: "There is no such order." });
  res.json({ ...order, currency: "KMF", paid: order.paid === 1 });
});

app.post("/orders/:id/checkout", (_req, res) => {
  res.status(501).json({ error: "Payments are not connected yet." });
});

app.listen(Number(process.env.PORT), "127.0.0.1");
