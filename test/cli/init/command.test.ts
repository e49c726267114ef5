import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { run } from "../../../src/cli/run.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const parent = temporaryFolder();

/** Makes a folder with these files. */
function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(path.join(parent.path, "app-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    parent.write(path.join(path.basename(folder), name), content);
  }
  return folder;
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
const init = (cwd: string, argv: string[] = ["--yes"], stdin = "") =>
  runCli(["init", ...argv], { cwd, stdin });
const contentOf = (folder: string, file: string) => readFileSync(path.join(folder, file), "utf8");

const esm = `import express from "express";\nimport { readFileSync } from "node:fs";\n\nconst app = express();\napp.use(express.json());\napp.listen(80);\n`;
const cjs = `"use strict";\r\nconst express = require("express");\r\nconst server = express();\r\nserver.use(express.json());\r\n`;
const manifest = JSON.stringify({ dependencies: { express: "^5.0.0" } });

describe("tillkit init, in an empty folder", () => {
  it.each([
    [
      "JavaScript",
      [],
      ["payments/fulfil-order.mjs", "payments/fulfil-order.test.mjs", "payments/router.mjs", "server.mjs"],
    ],
    [
      "TypeScript",
      ["--typescript"],
      [
        "src/payments/fulfil-order.test.ts",
        "src/payments/fulfil-order.ts",
        "src/payments/router.ts",
        "src/server.ts",
        "tsconfig.json",
      ],
    ],
  ])("writes a shop in %s, and says what is left to do", async (_, argv, sources) => {
    const folder = folderWith();
    const ran = await init(folder, ["--yes", ...argv]);
    expect(ran.code).toBe(0);
    expect(filesIn(folder)).toEqual([".env.example", ".gitignore", "package.json", ...sources].toSorted());
    expect(JSON.parse(contentOf(folder, "package.json"))).toMatchObject({ private: true, type: "module" });
    expect(ran.stdout).toMatch(
      /1\. Install the packages in package\.json: npm install\n {2}2\. Copy \.env\.example to \.env/,
    );
    expect(ran.stdout).toMatch(/Examine the running app .*: npx tillkit doctor --env-file \.env\n$/);
    // Nothing is installed yet.
    expect(ran.stdout).not.toContain("Examined");
  });

  it("shows each file before it asks, and writes only what is agreed to", async () => {
    const folder = folderWith();
    const ran = await init(folder, [], "n\ny\na\n");
    expect(ran.code).toBe(1);
    expect(filesIn(folder)).toEqual([
      ".env.example",
      ".gitignore",
      "payments/fulfil-order.mjs",
      "payments/fulfil-order.test.mjs",
      "payments/router.mjs",
      "server.mjs",
    ]);
    expect(ran.stdout).toMatch(
      /payments\/fulfil-order\.mjs, new\n[^]*\+ export const fulfilOrder = async [^]*Write payments\/fulfil-order\.mjs\? y: yes/,
    );
    expect(ran.stdout).not.toContain("Write server.mjs?");
  });

  it.each([
    ["creates", "server.mjs", undefined],
    ["changes", ".gitignore", "node_modules\n"],
  ])("overwrites no file that somebody %s before the answer", async (_, file, before) => {
    const folder = folderWith(before === undefined ? {} : { [file]: before });
    const stderr = new PassThrough().resume();
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        if (String(chunk).includes(`Write ${file}?`)) writeFileSync(path.join(folder, file), "mine");
        done();
      },
    });
    const stdin = Readable.from([Buffer.from("y\n".repeat(20))]);
    expect(await run(["init"], { stdin, stdout, stderr, env: {}, cwd: folder })).toBe(3);
    expect(contentOf(folder, file)).toBe("mine");
  });

  it.each(["abort", "yikes", "no, all", " "])("takes the answer %j for a no", async (answer) => {
    const folder = folderWith();
    expect((await init(folder, [], `${answer}\n`.repeat(20))).code).toBe(1);
    expect(filesIn(folder)).toEqual([]);
  });

  it("writes JavaScript where it is asked to, although there is a tsconfig.json", async () => {
    const folder = folderWith({ "tsconfig.json": "{}" });
    expect(documentOf(await init(folder, ["--dry-run", "--json"]))).toMatchObject({ language: "TypeScript" });
    await init(folder, ["-y", "--javascript"]);
    expect(filesIn(folder)).toContain("server.mjs");
  });

  it("writes nothing where nobody answers, and nothing with --dry-run", async () => {
    const folder = folderWith();
    expect((await init(folder, [])).code).toBe(1);
    const ran = await init(folder, ["--dry-run", "--yes", "--json"]);
    expect(ran.code).toBe(0);
    expect(documentOf(ran)).toMatchObject({
      language: "JavaScript",
      written: [],
      changes: expect.arrayContaining(["server.mjs"]),
    });
    expect(filesIn(folder)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ["adds what it lacks", "node_modules", "node_modules\n.env\nshop.db*\nrefused/\n"],
    ["adds nothing twice", "/.env\r\nrefused\r\n", "/.env\r\nrefused\r\nshop.db*\r\n"],
  ])("%s to .gitignore", async (_, before, after) => {
    const folder = folderWith({ ".gitignore": before });
    const ran = await init(folder);
    expect(ran.stdout).toContain(".gitignore, changed by these lines");
    expect(contentOf(folder, ".gitignore")).toBe(after);
  });

  it("changes nothing the second time", async () => {
    const folder = folderWith();
    await init(folder);
    const ran = await init(folder, ["--yes", "--dry-run", "--json"]);
    expect(documentOf(ran)).toMatchObject({ changes: [], kept: ["server.mjs"] });
  });
});

/** What `npm init --yes` and `npm install express` make. */
const initialised = {
  name: "shop",
  main: "index.js",
  scripts: { test: 'echo "Error: no test specified" && exit 1' },
  dependencies: { express: "^5.0.0", tillkit: "^0.1.0" },
};

describe("tillkit init, where package.json is there already", () => {
  const scriptsIn = (folder: string) => JSON.parse(contentOf(folder, "package.json")).scripts;

  it.each(["null", "[]", '"shop"', "{"])(
    "refuses %s, which is no manifest, and writes nothing",
    async (text) => {
      const folder = folderWith({ "package.json": text });
      expect(await runCli(["init", folder, "--yes"])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("file_unreadable: The file package.json cannot be read") as string,
      });
      expect(filesIn(folder)).toEqual(["package.json"]);
      expect(contentOf(folder, "package.json")).toBe(text);
    },
  );
  const text = `${JSON.stringify(initialised, undefined, 4)}\n`;

  it.each<[string, string[], string, string]>([
    ["JavaScript", [], "node --env-file=.env server.mjs", "node --test payments/fulfil-order.test.mjs"],
    [
      "TypeScript",
      ["--typescript"],
      "tsc && node --env-file=.env dist/server.js",
      "tsc && node --test dist/payments/fulfil-order.test.js",
    ],
  ])(
    "adds the scripts of a new shop in %s, in place of npm's test that fails",
    async (_, argv, start, tested) => {
      const folder = folderWith({ "package.json": text });
      const ran = await init(folder, ["--yes", ...argv]);
      expect(scriptsIn(folder)).toMatchObject({
        start,
        test: tested,
        sandbox: expect.stringContaining("tillkit sandbox --webhook"),
      });
      expect(contentOf(folder, "package.json")).toMatch(/^\{\n {4}"name": "shop",\n[^]*\}\n$/);
      expect(ran.stdout).toMatch(
        /package\.json, changed by these lines\n[^]*"scripts": \{\n- .*no test specified.*\n[^]*\+ .*"start": /,
      );
      for (const command of ["npm test", "npm run sandbox", "npm start"])
        expect(ran.stdout).toContain(`: ${command}\n`);
      expect(documentOf(await init(folder, ["--dry-run", "--json"]))).toMatchObject({ changes: [] });
    },
  );

  it("overwrites no script, and prints the command where a script is another one", async () => {
    const scripts = { start: "nodemon", test: "jest", sandbox: "mine" };
    const given = JSON.stringify({ ...initialised, scripts });
    const folder = folderWith({ "package.json": given, "app.mjs": esm });
    const ran = await init(folder);
    expect(contentOf(folder, "package.json")).toBe(given);
    expect(ran.stdout).toContain(": node --test payments/fulfil-order.test.mjs\n");
    expect(ran.stdout).toContain(": npx tillkit sandbox --webhook");
  });

  it("starts the file that has the app, and leaves a build in TypeScript that it does not know", async () => {
    const plain = folderWith({ "package.json": text, "src/app.mjs": esm });
    await init(plain);
    expect(scriptsIn(plain)).toMatchObject({
      start: "node --env-file=.env src/app.mjs",
      test: "node --test src/payments/fulfil-order.test.mjs",
    });
    const typed = folderWith({ "package.json": text, "src/app.ts": esm });
    await init(typed);
    expect(scriptsIn(typed)).toEqual({ ...initialised.scripts, sandbox: expect.any(String) });
  });

  it("examines only what is there before the start, and ends with what is left to do", async () => {
    const folder = folderWith({
      "package.json": text,
      "node_modules/express/package.json": '{"version":"5.3.0","main":"i.js"}',
      "node_modules/express/i.js": "",
    });
    const { stdout, code } = await init(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/tillkit doctor --before-start --env-file \.env\.example\nExamined\n/);
    parent.write(`${path.basename(folder)}/.env`, `TILLKIT_WEBHOOK_SECRET=${"0f".repeat(32)}\n`);
    const again = await init(folder);
    expect(again.stdout).toContain("tillkit doctor --before-start --env-file .env\nExamined\n");
    expect(stdout).toMatch(
      /The doctor found no problem in what it examined\.\n\nWhat is left to do\n[^]*npx tillkit doctor --env-file \.env\n$/,
    );
  });
});

describe("tillkit init, in an Express app", () => {
  it("mounts the router in front of the parser, by two lines", async () => {
    const folder = folderWith({ "package.json": manifest, "src/app.ts": esm });
    const ran = await init(folder);
    expect(contentOf(folder, "src/app.ts")).toBe(
      esm
        .replace(
          '"node:fs";\n',
          '"node:fs";\nimport { router as paymentRoutes } from "./payments/router.js";\n',
        )
        .replace(
          "express();\n",
          'express();\napp.use("/payments", paymentRoutes); // before express.json()\n',
        ),
    );
    expect(filesIn(folder)).toContain("src/payments/fulfil-order.ts");
    expect(ran.stdout).toMatch(
      /src\/app\.ts, changed by these lines\n[^]* {2}const app = express\(\);\n\+ app\.use\("\/payments"/,
    );
    expect(ran.stdout).toContain("npm install tillkit typescript @types/express @types/node");
    expect(JSON.parse(contentOf(folder, "package.json"))).toEqual({
      ...JSON.parse(manifest),
      scripts: { sandbox: expect.any(String) },
    });
  });

  it("keeps the style of the file: require, another name, line breaks of Windows", async () => {
    const folder = folderWith({ "package.json": manifest, "index.js": cjs });
    await init(folder);
    expect(contentOf(folder, "index.js")).toBe(
      cjs
        .replace(
          '("express");\r\n',
          '("express");\r\nconst { router: paymentRoutes } = require("./payments/router.mjs");\r\n',
        )
        .replace(
          "express();\r\n",
          'express();\r\nserver.use("/payments", paymentRoutes); // before express.json()\r\n',
        ),
    );
  });

  it("mounts the router in the main file of package.json, unless a build writes this file", async () => {
    const main = (file: string) => JSON.stringify({ ...JSON.parse(manifest), main: file });
    const own = folderWith({ "package.json": main("start/shop.mjs"), "start/shop.mjs": esm });
    await init(own);
    expect(contentOf(own, "start/shop.mjs")).toContain('app.use("/payments", paymentRoutes);');
    const built = folderWith({ "package.json": main("./dist/shop.mjs"), "dist/shop.mjs": esm });
    await init(built);
    expect(contentOf(built, "dist/shop.mjs")).toBe(esm);
  });

  it("adds no line inside a statement that begins with a require", async () => {
    const limiter = 'const limiter = require("express-rate-limit")({\n  limit: 9,\n});\n';
    const folder = folderWith({
      "package.json": manifest,
      "app.js": `const express = require("express");\n${limiter}const app = express();\n`,
    });
    await init(folder);
    expect(contentOf(folder, "app.js")).toContain(`require("./payments/router.mjs");\n${limiter}`);
  });

  it.each([
    ["two apps", esm.replace("app.listen", "const admin = express();\napp.listen")],
    [
      "a function that makes the app",
      'import express from "express";\nexport const make = () => {\n  const app = express();\n};\n',
    ],
    [
      "an import that is not plain",
      'import express from "express"; import x from "x"; start();\nconst app = express();\n',
    ],
    [
      "an app whose statement continues",
      'import express from "express";\nconst app = express()\n  .use(express.json());\n',
    ],
  ])("does not change a file with %s, and says which lines to add", async (_, text) => {
    const folder = folderWith({ "package.json": manifest, "app.mjs": text });
    const ran = await init(folder);
    expect(contentOf(folder, "app.mjs")).toBe(text);
    expect(ran.stdout).toMatch(
      /Add to app\.mjs, with the imports: import \{ router as paymentRoutes \} from "\.\/payments\/router\.mjs";/,
    );
    expect(ran.stdout).toContain('And right behind express(): app.use("/payments", paymentRoutes);');
  });

  it("leaves every file that is there as it is", async () => {
    const files = {
      "package.json": manifest,
      "app.mjs": esm,
      "payments/router.mjs": "mine",
      ".env.example": "MINE=1",
    };
    const folder = folderWith(files);
    const ran = await init(folder);
    for (const name of ["payments/router.mjs", ".env.example"] as const)
      expect(contentOf(folder, name)).toBe(files[name]);
    expect(ran.stdout).toContain("payments/router.mjs exists already, and stays unchanged.");
    expect(existsSync(path.join(folder, "server.mjs"))).toBe(false);
  });

  it("refuses two languages, and a package.json that is none", async () => {
    expect((await init(folderWith(), ["--typescript", "--javascript"])).code).toBe(2);
    const broken = await init(folderWith({ "package.json": "{" }));
    expect(broken).toMatchObject({ code: 3, stderr: expect.stringContaining("file_unreadable") });
  });
});
