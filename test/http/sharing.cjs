// Sends requests without their body to a payment router: node --allow-natives-syntax sharing.cjs <built kit> <express>
// Prints how many of them, and of their responses, have the hidden class of the one before, as V8 reports it.
const { createServer } = require("node:http");
const { connect } = require("node:net");
const path = require("node:path");
const { runInThisContext } = require("node:vm");

const [kit, express] = process.argv.slice(2);
const { hmacSignature, MemoryStore, paymentRouter } = require(path.join(kit, "index.js"));
const haveSameShape = runInThisContext("(a, b) => %HaveSameMap(a, b)");
const underWay = 8;

const requests = [];
const responses = [];
const app = require(express)();
app.use((request, response, next) => {
  requests.push(request);
  responses.push(response);
  next();
  if (requests.length === underWay) tell();
});
const router = paymentRouter({
  publicUrl: "https://shop.example/payments",
  service: { baseUrl: "https://pay.example", accessToken: "a-token-for-tests" },
  signature: hmacSignature({ secret: "sharing-7Qm2vXc9LkR4tYw8PzN3sHd6" }),
  store: new MemoryStore(),
  logger: false,
});
app.use("/payments", router);

function tell() {
  const sharing = (objects) =>
    objects.filter((one, at) => at > 0 && haveSameShape(one, objects[at - 1])).length;
  process.send({ requests: sharing(requests), responses: sharing(responses) }, () => process.exit());
}

const server = createServer(app).listen(0, "127.0.0.1", () => {
  for (let n = 0; n < underWay; n++)
    connect(server.address().port, "127.0.0.1").write(
      "POST /payments/webhook HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n",
    );
});
