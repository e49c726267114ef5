import { readdirSync } from "node:fs";
import path from "node:path";
import { read, root } from "./documents.js";

const page = read("docs/orms.md");
const folder = "examples/stores/orms";
const programs = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && file !== "orders.ts" && !file.includes("generated"))
  .map((file) => path.posix.join(folder, file));

describe("docs/orms.md", () => {
  it.each(programs)("shows %s as it is tested", (file) => {
    expect(page).toContain(`\`\`\`typescript\n${read(file)}\`\`\``);
    expect(read(file).split("\n").length).toBeLessThanOrEqual(30);
  });

  it("names the version of each ORM that is tested", () => {
    const { dependencies } = JSON.parse(read("examples/stores/package.json")) as {
      dependencies: Record<string, string>;
    };
    const rows = [...page.matchAll(/^\| \w+ +\| `([^`]+)` +\| (\S+) +\|/gm)];
    expect(rows).toHaveLength(
      readdirSync(path.join(root, folder)).filter((file) => /^(?!orders).*\.ts$/.test(file)).length,
    );
    for (const [, name, version] of rows) expect([name, version]).toEqual([name, dependencies[name!]]);
  });
});
