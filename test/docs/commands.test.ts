import { readFileSync } from "node:fs";
import path from "node:path";

const read = (file: string): string => readFileSync(path.resolve(__dirname, "../..", file), "utf8");

const started = read("scripts/test/starts.mjs");
const documents = ["README.md", "CONTRIBUTING.md", "bench/README.md"].map(read).join("\n");

describe("a command of this repository", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const byNpm = Object.keys(scripts).map((name) =>
    /^(start|test)$/.test(name) ? `npm ${name}` : `npm run ${name}`,
  );
  const documented = [...documents.matchAll(/`(node (?:bench|scripts)\/[\w/-]+\.mjs)/g)].map(
    ([, command]) => command!,
  );

  it.each([...new Set([...byNpm, ...documented])])("%s is started by continuous integration", (command) => {
    expect(started).toContain(`"${command}"`);
  });

  it("is documented, if continuous integration starts it by a name", () => {
    const names = [...started.matchAll(/"(npm (?:run )?[\w:-]+)"/g)].map(([, name]) => name!);
    expect(names.filter((name) => !byNpm.includes(name))).toEqual([]);
  });
});
