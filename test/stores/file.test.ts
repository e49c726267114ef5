import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type * as example from "../../examples/stores/file.js";
import { fileAdapter } from "../../examples/stores/file.js";
import { storeTests } from "./support/store-tests.js";

storeTests({ name: "a store in a file", module: "file.ts", processes: 1 });

it("syncs the directory after the new file got its name, which a power failure could take back", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "tillkit-file-"));
  const file = path.join(folder, "payments.jsonl");
  const sync = fs.fsyncSync;
  const synced: string[][] = [];
  jest.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
    if (fs.fstatSync(descriptor).isDirectory()) synced.push(fs.readdirSync(folder));
    sync(descriptor);
  });
  let adapter!: ReturnType<typeof example.fileAdapter>;
  // The module keeps the functions of node:fs that it found when it was loaded.
  await jest.isolateModulesAsync(async () => {
    const { fileAdapter } = await import("../../examples/stores/file.js");
    adapter = fileAdapter(file);
  });
  jest.restoreAllMocks();
  await adapter.close!();
  fs.rmSync(folder, { recursive: true });
  // Windows cannot open a directory.
  const lock = expect.stringMatching(/^payments\.jsonl\.lock-/) as string;
  expect(synced).toEqual(process.platform === "win32" ? [] : [["payments.jsonl", lock]]);
});

describe("the file of a store in a file", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(tmpdir(), "tillkit-file-"));
    file = path.join(folder, "payments.jsonl");
  });
  afterEach(() => fs.rmSync(folder, { recursive: true }));
  const record = { key: "a", version: 0, value: "1" };

  it("cannot be opened twice in one process, until it is closed", async () => {
    const first = fileAdapter(file);
    expect(() => fileAdapter(path.relative("", file))).toThrow(/is open already/);
    expect(await first.write([record], [])).toBe(true);
    await first.close!();
    const second = fileAdapter(file);
    expect(await second.read(["a"])).toEqual([{ ...record, version: 1 }]);
    await second.close!();
    expect(fs.readdirSync(folder)).toEqual(["payments.jsonl"]);
  });

  it("cannot be opened while another process has it, and can be after that process was killed", async () => {
    const program = "console.log(performance.timeOrigin); process.stdin.resume()";
    const owner = spawn(process.execPath, ["-e", program]);
    const [origin] = (await once(owner.stdout, "data")) as [Buffer];
    fs.writeFileSync(`${file}.lock-${owner.pid}-${Math.floor(Number(origin))}`, "");
    expect(() => fileAdapter(file)).toThrow(/is open already/);
    const ended = once(owner, "exit");
    owner.kill("SIGKILL");
    await ended;
    const adapter = fileAdapter(file);
    await adapter.close!();
    expect(fs.readdirSync(folder)).toEqual(["payments.jsonl"]);
  });

  it("cannot be a link, which stays as it is", () => {
    const target = path.join(folder, "target");
    fs.symlinkSync(target, file);
    for (const text of [undefined, "of somebody else"]) {
      if (text !== undefined) fs.writeFileSync(target, text);
      expect(() => fileAdapter(file)).toThrow(/is no plain file/);
      expect(fs.readlinkSync(file)).toBe(target);
    }
    fs.rmSync(target);
    expect(fs.readdirSync(folder)).toEqual(["payments.jsonl"]);
  });

  it("is free again after a failure to open it", async () => {
    fs.writeFileSync(file, "no JSON\n");
    expect(() => fileAdapter(file)).toThrow(SyntaxError);
    fs.rmSync(file);
    await fileAdapter(file).close!();
  });
});
