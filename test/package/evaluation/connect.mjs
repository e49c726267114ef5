// Puts the kit into the application in the current folder, as docs/agents.md says. It stands for the command that a user names.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const file = existsSync("src/server.ts") ? "src/server.ts" : "server.js";
const isTyped = file.endsWith(".ts");
const json = "app.use(express.json());\n";
const code = readFileSync(file, "utf8");
const checkout = /app\.post\("\/orders\/:id\/checkout"[\s\S]*?\n\}\);\n/;
writeFileSync(
  file,
  code
    .replace(
      'import express from "express";\n',
      'import express from "express";\nimport { paymentRouter } from "tillkit";\n',
    )
    .replace(json, "")
    .replace(
      "const app = express();\n",
      `const router = paymentRouter({
  async onPaymentCompleted({ payment }, { tx }) {
    const { affected } = await tx.query("update orders set paid = 1 where id = ?", [payment.reference]);
    if (affected !== 1) throw new Error("There is no order " + payment.reference);
  },
});
const app = express();
app.use("/payments", router);
${code.includes(json) ? json : ""}`,
    )
    .replace(
      checkout,
      `app.post("/orders/:id/checkout", async (req, res) => {
  const order = find(req.params.id)${isTyped ? "!" : ""};
  const total = { value: String(order.total), currency: "KMF" };
  const { checkoutUrl } = await router.payments.create({ reference: order.id, total });
  res.redirect(303, checkoutUrl);
});
`,
    ),
);
