import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildKit } from "../../support/built-kit.js";
import { temporaryFolder } from "../support/run-cli.js";

// The command imports a module of the merchant's, which a test runner would compile.
const built = buildKit("esm");
afterAll(() => rmSync(built, { recursive: true, force: true }));

const folder = temporaryFolder();
const kit = pathToFileURL(path.join(built, "index.js")).href;

/** Writes a module and examines it. */
function exam(name: string, module: string, ...options: string[]) {
  const file = folder.write(name, module);
  const argv = [path.join(built, "cli/main.js"), "exam", file, ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
  return { status, stdout, stderr };
}

const good = `import { MemoryStore } from ${JSON.stringify(kit)};
export const create = async () => new MemoryStore();`;

describe("tillkit exam", () => {
  it("ends with 0 if every check passed", () => {
    const { status, stdout } = exam("good.mjs", good);
    expect(stdout).toMatch(/^transaction +\d+ +· +·$/m);
    expect(stdout).toMatch(/^migrate +1 +· +·$/m);
    // A probe that is missing is visible, and does not fail the exam.
    expect(stdout).toMatch(/^probe +· +· +5 {2}Without it: It is not known whether your own writes commit/m);
    expect(stdout).not.toMatch(/^adapter/m);
    expect(stdout).toMatch(/^\d{3} passed, 0 failed, 10 left out\.$/m);
    expect(status).toBe(0);
  });

  it("ends with 1 if a check failed, and says why, the line of the contract and the calls", () => {
    const module = `import { MemoryStore } from ${JSON.stringify(kit)};
class Blind extends MemoryStore { async find() {} }
export default { create: async () => new Blind() };`;
    const { status, stdout } = exam("failing.mjs", module);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^save +\d+ +\d+ +·$/m);
    const [, failure] = /^(failed This does not hold: one call updates several[^]*?)\n\n/m.exec(stdout) ?? [];
    expect(failure).toMatch(/^Why: Expected .*, and got .*\.$/m);
    expect(failure).toMatch(/^Contract, save: Writes all changes or none/m);
    expect(failure).toMatch(/^ {2}store\.find\("p0"\) → undefined$/m);
    const json = exam("failing.mjs", module, "--json");
    const { results, stopped } = JSON.parse(json.stdout);
    expect(stopped).toBe(false);
    expect(results).toContainEqual({
      check: expect.stringContaining("one call updates several"),
      member: "save",
      outcome: "failed",
      reason: expect.any(String),
      contract: expect.any(String),
      calls: expect.arrayContaining([expect.stringContaining("store.find(")]),
    });
    expect(json.stderr).toContain("Why: ");
  });

  it("ends although a module keeps the process busy after the last check", () => {
    const { status, stderr } = exam("busy.mjs", "setInterval(() => {}, 1000);");
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("exports nothing") });
  });

  it("examines the probe of a module, and takes the tools of one store from create", () => {
    const module = `import { MemoryStore } from ${JSON.stringify(kit)};
const open = (own) => Object.assign(new MemoryStore(), {
  async transaction(run) {
    const added = [];
    const result = await MemoryStore.prototype.transaction.call(this, async (tx) => {
      added.length = 0;
      return run(Object.assign(tx, { add: (key) => added.push(key) }));
    });
    for (const key of added) own.add(key);
    return result;
  },
});
export const create = async () => {
  const own = new Set();
  const store = open(own);
  return { store, probe: { write: (tx, key) => tx.add(key), has: async (key) => own.has(key) } };
};`;
    const { status, stdout } = exam("probe.mjs", module);
    expect(stdout).toMatch(/^probe +5 +· +·$/m);
    expect(status).toBe(0);
  });

  it("uses reopen and remove of a module, and a named export before one of the default export", () => {
    const module = `import { MemoryStore } from ${JSON.stringify(kit)};
const calls = { reopen: 0, remove: 0 };
process.on("exit", () => process.stderr.write(JSON.stringify(calls)));
export const create = async () => new MemoryStore();
export const reopen = async (store) => ((calls.reopen += 1), store);
export default {
  create: async () => { throw new Error("the default export was used"); },
  remove: async () => { calls.remove += 1; },
};`;
    const { status, stdout, stderr } = exam("exports.mjs", module);
    expect(stdout).not.toContain("the default export was used");
    expect(status).toBe(0);
    expect(stderr).toMatch(/^\{"reopen":[1-9]\d*,"remove":[1-9]\d*\}$/);
  });

  it.each([
    [
      "that cannot reach its database",
      "const no = () => Promise.reject(new Error('Access denied'));",
      "{ durable: true, read: no, scan: no, write: no, transaction: no }",
      /^0 passed, 1 failed, 0 left out\.$/m,
    ],
    [
      "whose adapter has a defect",
      "",
      "{ durable: true, read: async () => [], scan: async () => [], write: async () => true }",
      /^\d passed, (?:[3-9]|\d\d) failed, 0 left out\.$/m,
    ],
  ])("stops at a store %s", (_, before, adapter, counts) => {
    const module = `import { storeOver } from ${JSON.stringify(kit)};
${before}
export const create = async () => storeOver(${adapter});`;
    const { status, stdout } = exam("stops.mjs", module);
    expect(status).toBe(1);
    expect(stdout).toMatch(counts);
    expect(stdout).toMatch(/^The exam stopped here: the other \d+ checks depend on what failed\.$/m);
    expect(stdout).toMatch(/^ {2}adapter\.read\(/m);
    expect(JSON.parse(exam("stops.mjs", module, "--json").stdout)).toMatchObject({ stopped: true });
  });

  it("names a promise that rejects and that the adapter does not await", () => {
    const module = `import { storeOver } from ${JSON.stringify(kit)};
const transaction = async (run) => {
  const running = run({});
  await new Promise(setImmediate);
  return running;
};
const write = async () => true;
export const create = async () =>
  storeOver({ durable: true, read: async () => [], scan: async () => [], write, transaction });`;
    const { status, stdout } = exam("early.mjs", module);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^Why: A promise rejected that nothing awaited: no\. Await run\(tx\) and each/m);
  });

  it("names an event of an error to which the adapter does not listen", () => {
    const module = `import { EventEmitter } from "node:events";
import { storeOver } from ${JSON.stringify(kit)};
const read = async () => {
  setImmediate(() => new EventEmitter().emit("error", new Error("Connection terminated")));
  return [];
};
const write = async () => true;
export const create = async () => storeOver({ durable: true, read, scan: async () => [], write });`;
    const { status, stdout } = exam("deaf.mjs", module);
    expect(status).toBe(1);
    const why =
      /^Why: An error was thrown outside of every call, .*: Connection terminated\. Listen to the event "error" of each pool/m;
    expect(stdout).toMatch(why);
  });

  it("says what to do about a module that is loaded as CommonJS", () => {
    folder.write("package.json", '{"type": "commonjs"}');
    const { status, stderr } = exam("commonjs.js", good);
    expect(status).toBe(3);
    expect(stderr).toContain('Name the file .mjs, or set "type": "module" in its package.json.');
  });

  it.each([
    ["no-create.mjs", "export const make = 1;", 2, "exports no function create"],
    ["throws.mjs", 'throw new Error("no database");', 3, "cannot be loaded: no database."],
  ])("says that %s cannot be examined", (name, module, code, said) => {
    const { status, stderr } = exam(name, module);
    expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringContaining(said) });
  });

  it("stops a check that hangs after --timeout, and refuses a time that is none", () => {
    const module = `import { MemoryStore } from ${JSON.stringify(kit)};
export const create = async () => Object.assign(new MemoryStore(), { migrate: () => new Promise(() => {}) });`;
    const { status, stdout } = exam("hangs.mjs", module, "--timeout", "1");
    expect(status).toBe(1);
    expect(stdout).toContain("No call ended for 1 s.");
    expect(stdout).toContain("The exam stopped here");
    for (const wrong of ["later", "0", "1.5", "3601"])
      expect(exam("hangs.mjs", module, "--timeout", wrong)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("--timeout must be") as string,
      });
  });
});
