// A process that creates payments until the test kills it. Its environment variable `CREATOR` is a JSON object: `kit`, the built kit;
// `address`, the database; `service`, the address of the service; `orders`, the prefix of its references.
const path = require("node:path");

const { kit, address, service, orders } = JSON.parse(process.env.CREATOR);
const { createPayments, hmacSignature } = require(path.join(kit, "index.js"));
const sql = require(path.join(kit, "store/sql/index.js"));

const payments = createPayments({
  publicUrl: "http://localhost/payments",
  service: { baseUrl: service, accessToken: "token-of-the-test" },
  signature: hmacSignature({ secret: "a secret of the test, long enough to pass" }),
  store: sql[`${address.kind}Store`](address.url, { tablePrefix: address.prefix }),
  dispatch: false,
  logger: false,
});

/** Creates 20 payments at the same moment, two for each reference: a customer presses “pay” twice. */
async function burst(number) {
  const creations = Array.from({ length: 20 }, async (_, index) => {
    const reference = `${orders}-${number}-${index % 10}`;
    const total = { value: "1475", currency: "KMF" };
    process.send({ created: { reference, ...(await payments.create({ reference, total })) } });
  });
  await Promise.all(creations);
}

async function main() {
  for (let number = 0; ; number++) await burst(number);
}

process.on("disconnect", () => process.exit());
main().catch((error) => {
  process.send({ failed: String(error) });
  process.exit(1);
});
