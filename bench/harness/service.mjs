// The payment service, in a process of its own: answers each creation immediately, with the id that the webhook names.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "./listen.mjs";
import { paymentOf } from "./webhooks.mjs";

async function answer(request, response) {
  const { clientId, purchase } = JSON.parse(await text(request));
  const { id } = paymentOf(Number(clientId.slice("bench-".length)));
  const submitUrl = `https://pay.example/payment/submit/${id}`;
  const data = { id, status: "pending", purchase, billing: { submitUrl } };
  response.writeHead(201, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ next: submitUrl, data }));
}

const server = createServer((request, response) => void answer(request, response));
const { port } = await listen(server, 0);
process.on("disconnect", () => process.exit());
process.send({ ok: { port } });
