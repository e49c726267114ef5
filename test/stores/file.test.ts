import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type * as example from "../../examples/stores/file.js";
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
  expect(synced).toEqual(process.platform === "win32" ? [] : [["payments.jsonl"]]);
});
