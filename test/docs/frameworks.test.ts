import { readdirSync } from "node:fs";
import path from "node:path";
import { read, root } from "./documents.js";

const page = read("docs/frameworks.md");
const folder = "examples/frameworks";
/** Next needs a layout, and the gateway's stand-in belongs to the tests. */
const notShown = ["invoke.mjs", "next/app/layout.js"];
const programs = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(m?js|cjs|service)$|Dockerfile$/.test(file))
  .filter((file) => !/node_modules|\.next/.test(file) && !notShown.includes(file));

it.each(programs)("docs/frameworks.md shows %s as it is tested", (file) => {
  expect(page).toContain(`\n${read(path.posix.join(folder, file))}\`\`\``);
});

it("docs/frameworks.md shows the smallest shop as it is tested", () => {
  expect(page).toContain(`\n\`\`\`js\n${read("examples/smallest/server.mjs")}\`\`\``);
});

it("docs/frameworks.md gives webpack the target and the name that the test of the bundlers gives it", () => {
  const tested = read("test/frameworks/bundling.test.ts");
  for (const setting of ['mode: "production"', 'target: "node20"', 'filename: "shop.cjs"']) {
    expect(page).toContain(setting);
    expect(tested).toContain(setting);
  }
});

it("docs/frameworks.md gives esbuild the banner that the test of the bundlers gives it", () => {
  const [, banner] = /^const banner = `(.*)`;$/m.exec(read("test/frameworks/bundling.test.ts"))!;
  expect(page).toContain(`--banner:js=${banner}\n`);
});
