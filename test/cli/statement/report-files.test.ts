import fs from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ReportFiles } from "../../../src/cli/statement/report-files.js";

afterEach(() => void jest.restoreAllMocks());

it("a report that is discarded while its file is being opened leaves no file", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "tillkit-report-"));
  const open = fs.open as (...args: unknown[]) => void;
  let openFile!: () => Promise<void>;
  jest.spyOn(fs, "open").mockImplementation((...args: unknown[]) => {
    const opened = args.pop() as (...results: unknown[]) => void;
    openFile = () =>
      new Promise((resolve) =>
        open(...args, (...results: unknown[]) => {
          opened(...results);
          resolve();
        }),
      );
  });
  const files = new ReportFiles(["report.csv"], folder, {});
  const discarded = files.discard();
  // Without the wait for the file, the call ends during these reads.
  for (let reads = 0; reads < 100; reads++) await readdir(folder);
  await openFile();
  await discarded;
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});
