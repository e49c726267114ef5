import { readdirSync } from "node:fs";
import path from "node:path";
import { read, root } from "./documents.js";

const page = read("docs/orms.md");
const folder = "examples/stores/orms";
const programs = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.includes("generated"))
  .map((file) => path.posix.join(folder, file));

describe("docs/orms.md", () => {
  it.each(programs)("shows %s as it is tested, or copies it", (file) => {
    const copied = `cp node_modules/tillkit/${file} fulfil-order.ts`;
    expect(page).toContain(page.includes(copied) ? copied : `\`\`\`typescript\n${read(file)}\`\`\``);
    expect(read(file).split("\n").length).toBeLessThanOrEqual(45);
  });

  it("shows no import of a program that is not on the page", () => {
    const imported = [...page.matchAll(/from "(\.[^"]+)\.js"/g)].map(([, file]) => file!);
    expect(imported).toContain("./orms/drizzle");
    const known = ["./orms/drizzle", "./orders", "../orders", "./prisma/generated/client", "./fulfil-order"];
    expect(imported.filter((file) => !known.includes(file))).toEqual([]);
  });

  it("shows the schema of Prisma as it is tested", () => {
    expect(page).toContain(`\`\`\`prisma\n${read("examples/stores/orms/prisma/schema.prisma")}\`\`\``);
    const other = read("examples/stores/orms/mysql/prisma/schema.prisma");
    expect(other.replace("mysql", "postgresql")).toBe(read("examples/stores/orms/prisma/schema.prisma"));
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
