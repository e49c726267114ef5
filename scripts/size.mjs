// Prints the size of the sources and the cost of `require("tillkit")`, beside an earlier commit. `npm run size -- --help`
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { bundle } from "./bundle.mjs";

const usage = `Usage: npm run size -- [--against <commit>] [--json]

  --against <commit>  A commit, branch or tag to compare with. Default: the last tag, or nothing without one.
  --json              Prints one object.
`;
const sources = ["src", "package.json", "tsconfig.json", "tsconfig.esm.json"];
const imports = 7;

process.chdir(path.resolve(import.meta.dirname, ".."));
const { values } = parseArgs({
  options: { against: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.help) console.log(usage);
else await main(values.against ?? lastTag());

async function main(commit) {
  const now = await measured("now", (folder) => {
    for (const name of sources) cpSync(name, path.join(folder, name), { recursive: true });
  });
  const before =
    commit &&
    (await measured("before", (folder) => {
      const archive = execFileSync("git", ["archive", commit, ...sources], { maxBuffer: 2 ** 28 });
      execFileSync("tar", ["-x", "-C", folder], { input: archive });
    }));
  if (values.json) console.log(JSON.stringify({ now, ...(before && { against: { commit, ...before } }) }));
  else print(now, before, commit);
}

function lastTag() {
  const { status, stdout } = spawnSync("git", ["describe", "--tags", "--abbrev=0"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** Calls `fill` with a new folder, and returns the sizes of the sources that it wrote there. */
async function measured(name, fill) {
  const folder = path.resolve(".tmp", `size-${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    fill(folder);
    return await sizesOf(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sizesOf(folder) {
  const src = path.join(folder, "src");
  const files = readdirSync(src, { recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({
      file: file.replaceAll("\\", "/"),
      text: readFileSync(path.join(src, file), "utf8").trimEnd(),
    }));
  const folders = {};
  for (const { file, text } of files) {
    const part = (folders[file.includes("/") ? file.split("/")[0] : "(top)"] ??= { lines: 0, files: 0 });
    part.lines += text.split("\n").length;
    part.files += 1;
  }
  const all = Object.values(folders);
  return {
    lines: all.reduce((sum, part) => sum + part.lines, 0),
    files: files.length,
    folders,
    functions: files
      .flatMap(functionsIn)
      .toSorted((a, b) => b.lines - a.lines)
      .slice(0, 5),
    import: await importOf(folder),
  };
}

/** Returns the functions of a file with their lines. */
function functionsIn({ file, text }) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const first = lineOf(node.getStart(source));
      found.push({ place: `${file}:${first}`, lines: lineOf(node.end) - first + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Builds the sources. Returns the number of modules that `require("tillkit")` loads, and its median time in milliseconds. */
async function importOf(folder) {
  const built = path.join(folder, "dist");
  await bundle(built, folder);
  const program = `const start = performance.now();
    require(${JSON.stringify(path.join(built, "index.js"))});
    const ms = performance.now() - start;
    console.log(JSON.stringify({ ms, modules: Object.keys(require.cache).length }));`;
  const loads = Array.from({ length: imports }, () =>
    JSON.parse(execFileSync(process.execPath, ["-e", program], { encoding: "utf8" })),
  );
  return { ...loads[0], ms: Math.round(loads.map(({ ms }) => ms).toSorted((a, b) => a - b)[imports >> 1]) };
}

function print(now, before, commit) {
  const row = (name, value, earlier) => {
    const change = before && value - (earlier ?? 0);
    const cells = before ? [earlier ?? 0, change > 0 ? `+${change}` : change] : [];
    console.log(name.padEnd(24) + [value, ...cells].map((cell) => String(cell).padStart(12)).join(""));
  };
  console.log(
    "".padEnd(24) + ["now", ...(before ? [commit, "change"] : [])].map((one) => one.padStart(12)).join(""),
  );
  row("lines", now.lines, before?.lines);
  row("files", now.files, before?.files);
  for (const name of new Set([...Object.keys(now.folders), ...Object.keys(before?.folders ?? {})].toSorted()))
    row(`lines of ${name}`, now.folders[name]?.lines ?? 0, before?.folders[name]?.lines);
  row("modules it loads", now.import.modules, before?.import.modules);
  row("ms of its load", now.import.ms, before?.import.ms);
  console.log("\nThe largest functions:");
  for (const { place, lines } of now.functions) console.log(`${String(lines).padStart(6)}  ${place}`);
}
