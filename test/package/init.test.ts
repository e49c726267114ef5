import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { discard, install, pack, type Packed, run } from "./pack.js";

const tsc = join(dirname(require.resolve("@typescript/native/package.json")), "bin/tsc");
const esm = 'import express from "express";\n\nexport const app = express();\napp.use(express.json());\n';
const app = esm.replace("export ", "");

let packed: Packed;
let project: string;
beforeAll(() => {
  packed = pack();
  const types = ["@types/express@5", "@types/node@20"];
  project = install(packed, "project", "express@5.3.0", "@photostructure/sqlite@1.2.1", ...types);
}, 180_000);
afterAll(() => discard(packed));

/** Makes a folder with these files and the installed packages, and runs `npx tillkit init` in it. */
function initialise(name: string, files: Readonly<Record<string, string>>, ...argv: string[]): string {
  const folder = join(packed.folder, name);
  mkdirSync(folder);
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  run(folder, "npx", "tillkit", "init", "--yes", ...argv);
  return folder;
}

describe("npx tillkit init, with the packed package", () => {
  it("makes a shop in JavaScript in an empty folder, whose test passes, and fails without the handler's write", () => {
    const folder = initialise("empty-javascript", {});
    expect(run(folder, "npm", "test")).toMatch(/pass 1\b/);
    const handler = join(folder, "payments/fulfil-order.mjs");
    writeFileSync(handler, readFileSync(handler, "utf8").replace("paid = 1", "paid = 0"));
    expect(() => run(folder, "npm", "test")).toThrow(/fail 1\b/);
  });

  it("makes a shop in TypeScript in an empty folder, which compiles strictly, and whose test passes", () => {
    const folder = initialise("empty-typescript", {}, "--typescript");
    expect(run(folder, process.execPath, tsc, "-p", ".")).toBe("");
    expect(run(folder, process.execPath, "--test", "dist/payments/fulfil-order.test.js")).toMatch(/pass 1\b/);
  });

  it.each<[string, string, string]>([
    ["of ES modules", "app.mjs", app],
    [
      "that requires its modules",
      "index.js",
      app.replace('import express from "express"', 'const express = require("express")'),
    ],
  ])(
    "mounts the route in an Express app %s, which then answers a forged webhook with 401",
    (kind, file, text) => {
      const manifest = JSON.stringify({ dependencies: { express: "^5.0.0" } });
      const listen = `const server = app.listen(0, async () => {
      const { status } = await fetch("http://127.0.0.1:" + server.address().port + "/payments/webhook", { method: "POST", body: "{}" });
      console.log(JSON.stringify(status));
      process.exit();
    });\n`;
      const folder = initialise(`app-${kind.length}`, { "package.json": manifest, [file]: text + listen });
      run(folder, "cp", ".env.example", ".env");
      const printed = run(folder, process.execPath, "--env-file=.env", file).trim().split("\n");
      expect(printed.at(-1)).toBe("401");
      expect(run(folder, process.execPath, "--test", "payments/fulfil-order.test.mjs")).toMatch(/pass 1\b/);
    },
  );
});
