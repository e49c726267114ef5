import { isAllowed, mayUse, partOf } from "./architecture/directions.js";
import { findCycle, graphOf } from "./architecture/find-cycle.js";
import { importsOf, readSources, type Import } from "./architecture/read-imports.js";

const sources = readSources();
const imports = sources.flatMap((source) => source.imports);
const inside = imports.filter((one) => one.inside);
const outside = imports.filter((one) => !one.inside);
const atStart = inside.filter(({ kind }) => kind === "runtime");

const maxLines = 300;

/**
 * Folders that need each other's code. Only pairs that belong together by their nature stand here; the files in them
 * still form no circle.
 */
const knownCircles = [
  // A scheme over fields needs event's strict decoding; event needs signature's list of the fields there are.
  ["signature", "event"],
];

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

  it("load the SQL store only where the kit is put together, or configured by the environment", () => {
    const users = atStart
      .filter(({ file, target }) => partOf(target) === "store/sql" && partOf(file) !== "store/sql")
      .filter(({ file }) => !["cli", "testing"].includes(partOf(file) ?? ""))
      .map(({ file }) => file);
    // The sandbox keeps its own state in a file, as an outsider would.
    const known = ["payments.ts", "options-from-environment.ts", "sandbox/state/keeper.ts"];
    expect(users.filter((file) => !known.includes(file))).toEqual([]);
  });

  it("name every file by its path, so that no folder is imported past its files", () => {
    const known = new Set(sources.map(({ file }) => file));
    expect(inside.filter(({ target }) => !known.has(target)).map(worded)).toEqual([]);
  });

  it("load each other in no circle of files", () => {
    expect(findCycle(graphOf(atStart.map(({ file, target }) => [file, target] as const)))).toBeUndefined();
  });

  it("load each other in no circle of parts but the known ones", () => {
    const between = atStart
      .map(({ file, target }) => [partOf(file) ?? file, partOf(target) ?? target] as const)
      .filter(([from, to]) => from !== to)
      .filter((pair) => !knownCircles.some((circle) => pair.every((part) => circle.includes(part))));
    expect(findCycle(graphOf(between))).toBeUndefined();
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

  it("makes the rules bite", () => {
    const one = (file: string, text: string): Import => importsOf(file, text)[0]!;
    expect(isAllowed(one("event/a.ts", 'import { MemoryStore } from "../store/index.js"'))).toBe(false);
    expect(isAllowed(one("store/a.ts", 'import { type A } from "../event/event-map.js"'))).toBe(true);
    expect(isAllowed(one("store/a.ts", 'import { a } from "../event/event-map.js"'))).toBe(false);
    expect(isAllowed(one("sandbox/a.ts", 'import { a } from "../signature/hmac.js"'))).toBe(false);
    expect(isAllowed(one("sandbox/pages/a.ts", 'import { html } from "../../html.js"'))).toBe(true);
    expect(isAllowed(one("service/a.ts", 'import { type A } from "../options.js"'))).toBe(false);
    expect(mayUse(one("signature/a.ts", 'import { readFileSync } from "node:fs"'))).toBe(false);
    expect(mayUse(one("store/sql/a.ts", 'import { type Pool } from "pg"'))).toBe(false);
    expect(mayUse(one("store/sql/a.ts", 'const load = () => import("pg")'))).toBe(true);
    expect(mayUse(one("receive-webhook.ts", 'import { type Request } from "express"'))).toBe(false);
  });

  it("finds a circle of any length", () => {
    expect(findCycle(graphOf(Object.entries({ a: "b", b: "c", c: "d" })))).toBeUndefined();
    expect(findCycle(graphOf(Object.entries({ a: "b", b: "c", c: "b" })))).toEqual(["b", "c", "b"]);
  });
});

function worded({ file, target, kind, line }: Import): string {
  return `${file}:${line} imports ${target} (${kind})`;
}
