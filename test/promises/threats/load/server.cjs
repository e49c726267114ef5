// A shop in a process of its own that reports its memory. Ends with its parent.
const { createServer } = require("node:http");
const path = require("node:path");
const express = require("express");

const [kit, options] = process.argv.slice(2);
const { createPayments, hmacSignature, MemoryStore, paymentRouter } = require(path.join(kit, "index.js"));

const payments = createPayments({
  publicUrl: "https://shop.example/payments",
  service: { baseUrl: "https://pay.invalid", accessToken: "a-token" },
  signature: hmacSignature({ secret: process.env.SECRET }),
  store: new MemoryStore(),
  logger: false,
  webhook: JSON.parse(options),
});
const server = createServer(express().use("/payments", paymentRouter(payments)));

/** Returns all memory that can hold a body. */
function used() {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
let peak = 0;
setInterval(() => (peak = Math.max(peak, used())), 5).unref();

const answers = {
  /** Returns the held memory after a garbage collection. */
  memory: () => (global.gc(), { bytes: used() }),
  peak: () => {
    const bytes = Math.max(peak, used());
    global.gc();
    peak = used();
    return { bytes };
  },
  connections: () => new Promise((resolve) => server.getConnections((_, count) => resolve({ count }))),
  rejections: async () => (await payments.health()).rejections,
};
async function answer(question) {
  process.send({ [question]: await answers[question]() });
}
process.on("message", (question) => void answer(question));
process.on("disconnect", () => process.exit());

server.listen(0, "127.0.0.1", 4096, () => process.send({ listening: server.address().port }));
