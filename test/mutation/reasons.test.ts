import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** A reason why a mutant survives. `from` is a part of the line that the mutant changes. */
interface Reason {
  file: string;
  from: string;
}

const root = path.resolve(__dirname, "../..");
const sources = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => path.posix.join("src", file.replaceAll("\\", "/")));

/** Reads the reasons in a process of its own, because jest cannot import an ES module. */
function readReasons(): Reason[] {
  const url = pathToFileURL(path.join(__dirname, "reasons.mjs")).href;
  const script = `import { reasons } from ${JSON.stringify(url)}; console.log(JSON.stringify(reasons))`;
  const argv = ["--input-type=module", "-e", script];
  return JSON.parse(execFileSync(process.execPath, argv, { encoding: "utf8" }));
}

/** Returns a source, with each run of white space as one space, as the report compares lines. */
function readSource(file: string): string {
  return readFileSync(path.join(root, file), "utf8").replaceAll(/\s+/g, " ");
}

describe("the reasons why mutants survive", () => {
  const reasons = readReasons();

  it("are about lines of the sources: remove a reason whose line has changed", () => {
    const contents = new Map(sources.map((file) => [file, readSource(file)]));
    const stale = reasons.filter(({ file, from }) => {
      const named = sources.filter((source) => source.endsWith(`/${file}`));
      return !named.some((source) => contents.get(source)!.includes(from));
    });
    expect(stale.map(({ file, from }) => `${file}: ${from}`)).toEqual([]);
    expect(reasons.length).toBeGreaterThan(0);
  });
});
