import fs from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type StatementSummary } from "tillkit/statement";
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

describe("a report whose last bytes are being written", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tillkit-report-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Ends a report, and resolves when its first write has started. `complete` ends this write. */
  async function endReport() {
    const write = fs.write as (...args: unknown[]) => void;
    const started = new Promise<(error?: Error) => void>((resolve) => {
      jest.spyOn(fs, "write").mockImplementation((...args: unknown[]) => {
        const written = args.at(-1) as (error: Error) => void;
        resolve((error) => (error ? written(error) : write(...args)));
      });
    });
    const files = new ReportFiles(["report.csv"], folder, {});
    const ended = files.end({} as StatementSummary);
    return { files, ended, complete: await started };
  }

  it("has its name only after they are written", async () => {
    const { ended, complete } = await endReport();
    for (let reads = 0; reads < 100; reads++)
      expect(await readdir(folder)).toEqual([`report.csv.${process.pid}.part`]);
    complete();
    await ended;
    expect(await readdir(folder)).toEqual(["report.csv"]);
    expect(await readFile(path.join(folder, "report.csv"), "utf8")).toMatch(/^kind,line,.*\r\n$/);
  });

  it("never has its name if they cannot be written", async () => {
    const { files, ended, complete } = await endReport();
    complete(new Error("The disk is full."));
    await expect(ended).rejects.toMatchObject({ code: "file_unwritable" });
    await files.discard();
    expect(await readdir(folder)).toEqual([]);
  });
});
