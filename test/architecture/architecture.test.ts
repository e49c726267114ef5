import { posix } from "node:path";
import { isAllowed, mayUse, partOf, parts } from "./directions.js";
import { findCycle, graphOf } from "./find-cycle.js";
import { importsOf, readSources, type Import } from "./read-imports.js";

const sources = readSources();
const imports = sources.flatMap((source) => source.imports);
const inside = imports.filter((one) => one.inside);
const outside = imports.filter((one) => !one.inside);
const folders = [...new Set(sources.flatMap(({ file }) => foldersOf(file)))];
const atStart = inside.filter(({ kind }) => kind === "runtime");

const maxLines = 300;

/** The folders whose parts are folders, and the maximum number of files beside these. */
const rooms = [
  "cli",
  "http",
  "kit",
  "operations",
  "sandbox",
  "statement",
  "store",
  "store/over",
  "store/sql",
  "webhook",
];
const maxLoose = 6;

describe("the sources", () => {
  it("all belong to a part that has a place in the order", () => {
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.map(({ file }) => file).filter((file) => partOf(file) === undefined)).toEqual([]);
  });

  it("import from each other only in the direction of the story", () => {
    expect(inside.filter((one) => !isAllowed(one)).map(worded)).toEqual([]);
  });

  it("import packages and Node's modules only where they belong", () => {
    expect(outside.filter((one) => !mayUse(one)).map(worded)).toEqual([]);
  });

  it("load the SQL stores only in the sandbox and in the command", () => {
    const isSql = (file: string) => file.startsWith("store/sql/");
    const users = atStart
      .filter(({ file, target }) => isSql(target) && !isSql(file) && !file.startsWith("cli/"))
      .map(({ file }) => file);
    // The sandbox keeps its own state in a file, as an application would.
    expect(users).toEqual(["sandbox/state/state-file.ts"]);
  });

  it("name every file by its path, so that no folder is imported past its files", () => {
    const known = new Set(sources.map(({ file }) => file));
    expect(inside.filter(({ target }) => !known.has(target)).map(worded)).toEqual([]);
  });

  it("import each other in no circle of files, of types neither", () => {
    expect(findCycle(graphOf(inside.map(({ file, target }) => [file, target] as const)))).toBeUndefined();
  });

  it("load each other in no circle of folders at the top", () => {
    const between = atStart
      .map(({ file, target }) => [partOf(file) ?? file, partOf(target) ?? target] as const)
      .filter(([from, to]) => from !== to);
    expect(findCycle(graphOf(between))).toBeUndefined();
  });

  it("import one way among the files and folders of each folder", () => {
    const cycles = folders.map((folder) => ({ folder, cycle: findCycle(graphOf(pairsIn(folder))) }));
    expect(cycles.filter(({ cycle }) => cycle !== undefined)).toEqual([]);
  });

  it(`lie loose in each room as at most ${maxLoose} files`, () => {
    const loose = rooms.map((room) => ({
      room,
      count: sources.filter(({ file }) => posix.dirname(file) === room).length,
    }));
    expect(loose.filter(({ count }) => count === 0 || count > maxLoose)).toEqual([]);
  });

  it("stand in 16 folders and one file at the top of src", () => {
    const top = new Set(sources.map(({ file }) => file.split("/", 1)[0]!));
    expect([...top].toSorted()).toEqual([...parts].toSorted());
    expect(top.size).toBe(17);
  });

  it(`have no file over ${maxLines} lines`, () => {
    const lengths = sources.map(({ lines }) => lines).toSorted((a, b) => a - b);
    const median = lengths[Math.floor(lengths.length / 2)];
    process.stderr.write(
      `src: ${lengths.length} files, ${median} lines at the median, ${lengths.at(-1)} at most.\n`,
    );
    expect(sources.filter(({ lines }) => lines > maxLines).map(({ file }) => file)).toEqual([]);
  });
});

describe("the reading of imports", () => {
  const read = (text: string, file = "event/read.ts") =>
    importsOf(file, text).map(({ target, kind }) => ({ target, kind }));

  it("tells what is loaded from what is erased, and from what is loaded later", () => {
    expect(read('import { a, type B } from "../errors/index.js";')).toEqual([
      { target: "errors/index.ts", kind: "runtime" },
    ]);
    expect(read('import {\n  type A,\n  type B,\n} from "./b.js";')).toEqual([
      { target: "event/b.ts", kind: "type" },
    ]);
    expect(read('export * from "node:fs";')).toEqual([{ target: "node:fs", kind: "runtime" }]);
    expect(read('import "pg";')).toEqual([{ target: "pg", kind: "runtime" }]);
    expect(read('type A = import("pg").Pool;')).toEqual([{ target: "pg", kind: "type" }]);
    expect(read('const pg = () => import("pg");')).toEqual([{ target: "pg", kind: "dynamic" }]);
    expect(read('const text = "import x from \\"pg\\"";')).toEqual([]);
  });

  it("refuses each planted import that breaks a rule", () => {
    const one = (file: string, text: string): Import => importsOf(file, text)[0]!;
    expect(isAllowed(one("model/a.ts", 'import { MemoryStore } from "../store/index.js"'))).toBe(false);
    expect(isAllowed(one("model/a.ts", 'import { newId } from "../shared/new-id.js"'))).toBe(false);
    expect(isAllowed(one("store/a.ts", 'import { a } from "../webhook/receive-webhook.js"'))).toBe(false);
    expect(isAllowed(one("store/a.ts", 'import { type A } from "../webhook/intake.js"'))).toBe(false);
    expect(isAllowed(one("store/a.ts", 'import { a } from "../model/event-map.js"'))).toBe(true);
    expect(isAllowed(one("service/a.ts", 'import { type A } from "../store/index.js"'))).toBe(false);
    expect(isAllowed(one("service/a.ts", 'import { type A } from "../kit/options/options.js"'))).toBe(false);
    expect(isAllowed(one("checkout/a.ts", 'import { a } from "../dispatch/handlers.js"'))).toBe(false);
    expect(isAllowed(one("operations/a.ts", 'import { a } from "../checkout/create-payment.js"'))).toBe(true);
    expect(isAllowed(one("webhook/signature/a.ts", 'import { a } from "../recording/b.js"'))).toBe(false);
    expect(isAllowed(one("webhook/message/a.ts", 'import { a } from "../receive-webhook.js"'))).toBe(false);
    expect(isAllowed(one("sandbox/a.ts", 'import { a } from "../webhook/signature/hmac-signature.js"'))).toBe(
      false,
    );
    expect(isAllowed(one("sandbox/pages/a.ts", 'import { html } from "../../pages/html.js"'))).toBe(true);
    expect(isAllowed(one("store/exam/a.ts", 'import { a } from "../sql/driver.js"'))).toBe(false);
    expect(isAllowed(one("loose-file.ts", 'import { a } from "./errors/index.js"'))).toBe(false);
    expect(mayUse(one("webhook/signature/a.ts", 'import { readFileSync } from "node:fs"'))).toBe(false);
    expect(mayUse(one("store/sql/a.ts", 'import { type Pool } from "pg"'))).toBe(false);
    expect(mayUse(one("store/sql/a.ts", 'const load = () => import("pg")'))).toBe(true);
    expect(mayUse(one("webhook/a.ts", 'import { type Request } from "express"'))).toBe(false);
  });

  it("finds a circle of any length", () => {
    expect(findCycle(graphOf(Object.entries({ a: "b", b: "c", c: "d" })))).toBeUndefined();
    expect(findCycle(graphOf(Object.entries({ a: "b", b: "c", c: "b" })))).toEqual(["b", "c", "b"]);
  });
});

/** Returns the folders of `src` that contain a file, from the outermost. */
function foldersOf(file: string): string[] {
  const names = file.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Returns the imports among the files and folders of a folder. */
function pairsIn(folder: string): [string, string][] {
  return inside.flatMap(({ file, target }) => {
    const [from, to] = [entryOf(folder, file), entryOf(folder, target)];
    return from === undefined || to === undefined || from === to ? [] : [[from, to] as [string, string]];
  });
}

/** Returns the file or folder of a folder that a file belongs to, or `undefined` where the folder does not contain it. */
function entryOf(folder: string, file: string): string | undefined {
  return file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split("/", 1)[0]! : undefined;
}

function worded({ file, target, kind, line }: Import): string {
  return `${file}:${line} imports ${target} (${kind})`;
}
