import { readdirSync } from "node:fs";
import path from "node:path";
import { codeBlocks, read, root } from "./documents.js";

const folder = "examples/init";
const files = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replace("src/", ""));

it.each(files)("docs/init.md shows %s as tillkit init writes it", (file) => {
  expect(codeBlocks(read("docs/init.md"))).toContain(`// ${file}\n${read(`${folder}/src/${file}`)}`);
});

it("docs/init.md shows the variables, and docs/handlers.md the handler, as tillkit init writes them", () => {
  expect(read("docs/init.md")).toContain(`\`\`\`sh\n${read(`${folder}/env.example`)}\`\`\``);
  expect(read("docs/handlers.md")).toContain(read(`${folder}/src/payments/fulfil-order.ts`));
});
