import { readdirSync } from "node:fs";
import path from "node:path";
import { read, root } from "./documents.js";

const page = read("docs/frameworks.md");
const folder = "examples/frameworks";
/** The gateway's stand-in belongs to the tests. */
const programs = readdirSync(path.join(root, folder)).filter(
  (file) => file.endsWith(".mjs") && file !== "invoke.mjs",
);

it.each(programs)("docs/frameworks.md shows %s as it is tested", (file) => {
  expect(page).toContain(`\`\`\`js\n${read(path.posix.join(folder, file))}\`\`\``);
});
