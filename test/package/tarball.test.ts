import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { errorFixes } from "tillkit";
import { doctorFixes } from "../../src/cli/doctor/findings.js";
import { prose } from "../docs/documents.js";
import { loadedBy } from "./loading.js";
import { discard, documents, guides, install, pack, type Packed, run } from "./pack.js";

const subpaths = ["tillkit", "tillkit/sql", "tillkit/sandbox", "tillkit/testing", "tillkit/statement"];

/** The last compiler with moduleResolution node10. */
const older = join(dirname(require.resolve("typescript/package.json")), "lib/tsc.js");

let packed: Packed;
let project: string;
const inPackage = (path: string): string => join(project, "node_modules/tillkit", path);

beforeAll(() => {
  packed = pack();
  project = install(packed, "project", "express@5.3.0");
}, 120_000);
afterAll(() => discard(packed));

/** Runs a program in the project: `.mjs` as ESM, `.cjs` as CommonJS. It prints JSON. */
function answerOf(name: string, program: string): unknown {
  writeFileSync(join(project, name), program);
  return JSON.parse(run(project, process.execPath, name));
}

describe("the tarball", () => {
  it("holds the built files and the documents, and nothing else", () => {
    const isGuide = (path: string): boolean => guides.some((guide) => path.startsWith(guide));
    const others = packed.files.filter((path) => !path.startsWith("dist/") && !isGuide(path));
    expect(others).toEqual(documents.filter((path) => existsSync(join(packed.source, path))));
    const isOfInit = (path: string): boolean => path.startsWith("examples/init/");
    const tests = packed.files.filter((path) => /test\.|\.test|__|tsbuildinfo/.test(path));
    expect(tests.filter((path) => !isOfInit(path))).toEqual([]);
    const endings = packed.files.filter((path) => path.startsWith("dist/"));
    const known = /\.(c?js|d\.ts)$|^dist\/cjs\/(package\.json|chunks\/zod\.LICENSE)$/;
    expect(endings.filter((path) => !known.test(path))).toEqual([]);
  });

  it("has zod inside, with its license, and needs no other", () => {
    expect(packed.files).toContain("dist/cjs/chunks/zod.LICENSE");
    expect(existsSync(join(project, "node_modules/zod"))).toBe(false);
    const read = (path: string): string => readFileSync(inPackage(path), "utf8");
    const named = packed.files.filter((path) =>
      /(from |require\()["']zod/.test(path.endsWith("s") ? read(path) : ""),
    );
    expect(named).toEqual([]);
  });

  it("has every file that package.json points to", () => {
    const { bin, main, module, types, exports } = JSON.parse(readFileSync(inPackage("package.json"), "utf8"));
    const targets =
      JSON.stringify([bin, main, module, types, exports]).match(/\.\/(?:dist|package)[^"]+/g) ?? [];
    expect(targets.length).toBeGreaterThan(16);
    expect(targets.filter((path) => !existsSync(inPackage(path)))).toEqual([]);
  });

  it("gives the types of every subpath to moduleResolution node10 too", () => {
    const folder = join(project, "node10");
    mkdirSync(folder);
    const imports = subpaths.map((name, index) => `import * as m${index} from "${name}";`);
    const used = subpaths.map((_, index) => `typeof m${index}`).join(" | ");
    const handler =
      'import { type Handler } from "tillkit";\nexport const handler: Handler<"payment.completed"> = async () => {};\n';
    const wrong =
      'import { sqliteStore } from "tillkit/sql";\n// @ts-expect-error a store has no such member\nexport const no = sqliteStore("a").nothing;\n';
    writeFileSync(join(folder, "a.ts"), `${imports.join("\n")}\nexport type All = ${used};\n`);
    writeFileSync(join(folder, "b.ts"), handler);
    writeFileSync(join(folder, "c.ts"), wrong);
    const options = ["--module", "commonjs", "--moduleResolution", "node10", "--ignoreDeprecations", "6.0"];
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--esModuleInterop", ...options];
    expect(run(folder, process.execPath, older, ...flags, "a.ts", "b.ts", "c.ts")).toBe("");
  });

  it("has types that name nothing which was left out of them as internal", () => {
    const entries = packed.files.filter((path) =>
      /^dist\/cjs\/((store\/sql|statement|sandbox|testing)\/)?index\.d\.ts$/.test(path),
    );
    const options = ["--module", "node16", "--target", "es2022", "--types", "node", "--noEmit", "--strict"];
    const compiler = ["scripts/tsc.mjs", "--ignoreConfig", ...options];
    expect(entries.length).toBe(subpaths.length);
    expect(run(packed.source, process.execPath, ...compiler, ...entries)).toBe("");
  });

  it("takes at most 2.7 MB unpacked, without source maps, and says what is what in its types", () => {
    const bytes = packed.files.reduce((sum, path) => sum + statSync(inPackage(path)).size, 0);
    expect(bytes).toBeLessThanOrEqual(2_700_000);
    expect(readFileSync(inPackage("dist/cjs/index.d.ts"), "utf8")).toContain("createPayments");
    expect(readFileSync(inPackage("dist/cjs/kit/create-payments.d.ts"), "utf8")).toContain("Creates the kit");
  });

  it("takes at most 12 MB installed with Express, and brings no database driver", () => {
    const modules = join(project, "node_modules");
    const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(12_000_000);
    for (const driver of ["pg", "mysql2", "@photostructure"])
      expect(existsSync(join(modules, driver))).toBe(false);
  });

  it("contains nothing about the machine that built it", () => {
    const told = packed.files.filter((path) => {
      const text = readFileSync(inPackage(path), "utf8");
      return text.includes(packed.folder) || text.includes(dirname(dirname(__dirname)));
    });
    expect(told).toEqual([]);
  });
});

describe("the documents in the package", () => {
  /** Returns the files that the links of a document lead to, relative to the package. */
  const targetsOf = (file: string): string[] =>
    [...prose(readFileSync(inPackage(file), "utf8")).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
      .map((link) => link[1]!)
      .filter((link) => !/^https?:/.test(link))
      .map((link) => posix.join(posix.dirname(file), link));

  it("link only to files of the package", () => {
    const pages = packed.files.filter((file) => file.endsWith(".md") || file === "llms.txt");
    const links = pages.flatMap((page) => targetsOf(page).map((target) => ({ page, target })));
    expect(links.length).toBeGreaterThan(200);
    expect(links.filter(({ target }) => !existsSync(inPackage(target)))).toEqual([]);
  });

  it("are all reached from the README", () => {
    const seen = new Set(["README.md"]);
    for (const file of seen) if (file.endsWith(".md")) for (const target of targetsOf(file)) seen.add(target);
    expect(packed.files.filter((file) => file.endsWith(".md") && !seen.has(file))).toEqual([]);
  });

  it("name a file that only the repository has where they say so", () => {
    const pages = packed.files.filter((file) => file.endsWith(".md"));
    const silent = pages.filter((page) => {
      const text = readFileSync(inPackage(page), "utf8");
      const paths = [...prose(text).matchAll(/`((?:src|test|scripts|bench|examples)\/[\w./-]*)`/g)];
      const absent = paths.filter(([, path]) => !existsSync(inPackage(path!)));
      return absent.length > 0 && !text.includes("repository");
    });
    expect(silent).toEqual([]);
  });

  it("are all that a fix of an error or of the doctor names", () => {
    const named = [...Object.values(errorFixes), ...Object.values(doctorFixes)].flatMap(
      (fix) => fix.match(/[\w./-]+\.md/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(inPackage(path)))).toEqual([]);
  });

  it("have an entry about every error, which the command prints", () => {
    const bin = inPackage("dist/cjs/cli/main.js");
    for (const code of ["store_busy", "store_unavailable"]) {
      const page = run(project, process.execPath, bin, "help", "errors", code);
      expect(page).toMatch(/- \*\*What to do:\*\* ./);
      // Its links are paths of files that are there.
      for (const [, path] of page.matchAll(/\]\((\/[^)#]+)/g)) expect(existsSync(path!)).toBe(true);
    }
    expect(run(project, process.execPath, bin, "help", "errors").trim().split("\n")).toEqual(
      Object.keys(errorFixes),
    );
    expect(() => run(project, process.execPath, bin, "help", "errors", "store_bussy")).toThrow(
      /Did you mean store_busy/,
    );
  });
});

describe("the installed package", () => {
  const listed = subpaths.map((name) => `"${name}"`).join(", ");
  const namesOf = `(module) => Object.keys(module).filter((name) => !["default", "module.exports"].includes(name)).sort()`;

  it("exports equal names to import and to require, for every subpath", () => {
    const imported = answerOf(
      "names.mjs",
      `const names = ${namesOf};
      const all = await Promise.all([${listed}].map((path) => import(path)));
      console.log(JSON.stringify(all.map(names)));`,
    ) as string[][];
    const required = answerOf(
      "names.cjs",
      `console.log(JSON.stringify([${listed}].map((path) => require(path)).map(${namesOf})));`,
    );
    expect(required).toEqual(imported);
    expect(imported[0]).toEqual(expect.arrayContaining(["createPayments", "hmacSignature", "paymentRouter"]));
    expect(imported[1]).toEqual(expect.arrayContaining(["mysqlStore", "postgresStore", "sqliteStore"]));
    expect(imported[2]).toEqual(expect.arrayContaining(["createSandbox"]));
    expect(imported[3]).toEqual(expect.arrayContaining(["testStore"]));
    expect(imported[4]).toEqual(expect.arrayContaining(["htmlReport", "readStatement", "compareStatement"]));
  });

  it("loads no database driver before one is needed", () => {
    const loaded = answerOf(
      "drivers.cjs",
      `for (const path of [${listed}]) require(path);
      const drivers = /node_modules.(pg|mysql2|@photostructure)./;
      console.log(JSON.stringify(Object.keys(require.cache).filter((file) => drivers.test(file))));`,
    );
    expect(loaded).toEqual([]);
  });

  it.each(["esm", "cjs"] as const)("loads statements and SQL stores at their first use, as %s", (format) => {
    expect(loadedBy(project, format)).toEqual({
      imported: [],
      mounted: [],
      started: ["store/sql"],
      compared: ["statement", "store/sql"],
    });
  });

  it("is one copy for both module systems", () => {
    const answer = answerOf(
      "copies.mjs",
      `import { createRequire } from "node:module";
      const require = createRequire(import.meta.url);
      const isEqual = async (path) => {
        const [imported, required] = [await import(path), require(path)];
        return Object.keys(required).every((name) => imported[name] === required[name]);
      };
      console.log(JSON.stringify(await Promise.all([${listed}].map(isEqual))));`,
    );
    expect(answer).toEqual(subpaths.map(() => true));
  });

  it("loads at most 25 files of its own at the first import", () => {
    const loaded = answerOf(
      "files.cjs",
      `require("tillkit");
      const own = /node_modules.tillkit.dist/;
      console.log(JSON.stringify(Object.keys(require.cache).filter((file) => own.test(file)).length));`,
    );
    expect(loaded).toBeLessThanOrEqual(25);
  });
});

describe("the installed command", () => {
  it("runs as npx tillkit, and as the file itself", () => {
    const { bin, version } = JSON.parse(readFileSync(inPackage("package.json"), "utf8"));
    expect(run(project, "npx", "--no-install", "tillkit", "--version")).toBe(`${version}\n`);
    expect(run(project, inPackage(bin.tillkit), "--version")).toBe(`${version}\n`);
    expect(statSync(inPackage(bin.tillkit)).mode & 0o111).toBe(0o111);
  });

  it("is also executable in the packed folder", () => {
    expect(statSync(join(packed.source, "dist/cjs/cli/main.js")).mode & 0o111).toBe(0o111);
  });

  it("verifies a signature that it made", () => {
    writeFileSync(join(project, "body.json"), '{"a":1}');
    const secret = ["--secret", "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b"];
    const signature = run(project, "npx", "--no-install", "tillkit", "sign", "body.json", ...secret).trim();
    const verify = ["tillkit", "verify", "body.json", "--signature", signature, ...secret, "--json"];
    expect(JSON.parse(run(project, "npx", "--no-install", ...verify))).toMatchObject({ verified: true });
  });
});
