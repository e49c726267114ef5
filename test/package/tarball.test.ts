import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { discard, install, pack, run, documents, type Packed } from "./pack.js";

const subpaths = ["tillkit", "tillkit/sql", "tillkit/sandbox", "tillkit/testing"];

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
    const others = packed.files.filter((path) => !path.startsWith("dist/"));
    expect(others).toEqual(documents.filter((path) => existsSync(join(packed.source, path))));
    expect(packed.files.filter((path) => /test\.|\.test|__|tsbuildinfo/.test(path))).toEqual([]);
    const endings = packed.files.filter((path) => path.startsWith("dist/"));
    expect(
      endings.filter((path) => !/\.(js|d\.ts|js\.map|d\.ts\.map)$|^dist\/cjs\/package\.json$/.test(path)),
    ).toEqual([]);
  });

  it("has every file that package.json points to", () => {
    const { bin, main, module, types, exports } = JSON.parse(readFileSync(inPackage("package.json"), "utf8"));
    const targets =
      JSON.stringify([bin, main, module, types, exports]).match(/\.\/(?:dist|package)[^"]+/g) ?? [];
    expect(targets.length).toBeGreaterThan(16);
    expect(targets.filter((path) => !existsSync(inPackage(path)))).toEqual([]);
  });

  it("has source maps that name no file outside of the package, and need none", () => {
    const maps = packed.files.filter((path) => path.endsWith(".js.map"));
    expect(maps.length).toBeGreaterThan(0);
    const astray = maps.filter((path) => {
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(inPackage(path), "utf8"));
      const outside = sources.some((source: string) =>
        posix.join(posix.dirname(path), source).startsWith(".."),
      );
      return outside || sourcesContent.length !== sources.length;
    });
    expect(astray).toEqual([]);
  });

  it("contains nothing about the machine that built it", () => {
    const told = packed.files.filter((path) => {
      const text = readFileSync(inPackage(path), "utf8");
      return text.includes(packed.folder) || text.includes(dirname(dirname(__dirname)));
    });
    expect(told).toEqual([]);
  });
});

describe("the installed package", () => {
  const listed = subpaths.map((name) => `"${name}"`).join(", ");
  const namesOf = `(module) => Object.keys(module).filter((name) => !["default", "module.exports", "__esModule"].includes(name)).sort()`;

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

  it("has two copies, whose errors can be recognised by their code", () => {
    const program = `
      const caught = (copy) => { try { copy.createPayments({}); } catch (error) { return error; } };
      const compareErrors = (mine, other) => ({
        class: caught(other) instanceof mine.TillkitError,
        code: mine.hasCode(caught(other), "configuration_invalid"),
        another: mine.hasCode(caught(other), "already_paid"),
      });
      console.log(JSON.stringify([compareErrors(esm, cjs), compareErrors(cjs, esm)]));`;
    const answer = answerOf(
      "copies.mjs",
      `import { createRequire } from "node:module";
      import * as esm from "tillkit";
      const cjs = createRequire(import.meta.url)("tillkit");
      ${program}`,
    );
    const apart = { class: false, code: true, another: false };
    expect(answer).toEqual([apart, apart]);
  });

  it("lets parts of one copy work in the other", () => {
    const answer = answerOf(
      "mixed.mjs",
      `import { createRequire } from "node:module";
      import { createPayments } from "tillkit";
      const require = createRequire(import.meta.url);
      const { hmacSignature, MemoryStore, paymentRouter } = require("tillkit");
      const payments = createPayments({
        publicUrl: "https://shop.example/payments",
        service: { baseUrl: "https://pay.invalid", accessToken: "a-token" },
        signature: hmacSignature({ secret: "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b" }),
        store: new MemoryStore(),
        logger: false,
      });
      const same = paymentRouter(payments).payments === payments;
      await payments.close();
      console.log(JSON.stringify(same));`,
    );
    expect(answer).toBe(true);
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
    expect(statSync(join(packed.source, "dist/esm/cli/main.js")).mode & 0o111).toBe(0o111);
  });

  it("verifies a signature that it made", () => {
    writeFileSync(join(project, "body.json"), '{"a":1}');
    const secret = ["--secret", "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b"];
    const signature = run(project, "npx", "--no-install", "tillkit", "sign", "body.json", ...secret).trim();
    const verify = ["tillkit", "verify", "body.json", "--signature", signature, ...secret, "--json"];
    expect(JSON.parse(run(project, "npx", "--no-install", ...verify))).toMatchObject({ verified: true });
  });
});
