import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type FileSystem, realFileSystem } from "../../../src/webhook/spool/spool-directory.js";
import { TillkitError } from "../../../src/errors/index.js";
import { type Spool } from "../../../src/webhook/spool/spool.js";
import { spoolBench, webhook } from "./fixtures.js";
import { hooked, systemError } from "./hooked-file-system.js";

const bench = spoolBench();

describe("the check of a spool", () => {
  it("passes before anything was spooled, creates nothing, and passes while webhooks wait", async () => {
    const spool = bench.open();
    await spool.check();
    expect(await bench.segments()).toEqual([]);
    await spool.append(webhook(1));
    await spool.check();
  });

  it("finds a directory that could not be written to or created: the nearest one that exists counts", async () => {
    const asked: string[] = [];
    const access: FileSystem["access"] = async (file) => {
      asked.push(String(file));
      await realFileSystem.access(file);
      throw systemError("EROFS");
    };
    const directory = path.join(bench.directory, "deep", "spool");
    const fs = { ...realFileSystem, access };
    await expect(bench.open({ directory, fs }).check()).rejects.toMatchObject({
      code: "spool_unavailable",
      cause: { code: "EROFS" },
    });
    const below = [directory, path.dirname(directory), bench.directory, path.dirname(bench.directory)];
    expect(asked).toEqual(below);
  });

  it("finds a file where a directory must be", async () => {
    await writeFile(bench.directory, "");
    await expect(bench.open().check()).rejects.toMatchObject({ code: "path_exposed" });
    const below = bench.open({ directory: path.join(bench.directory, "spool") });
    await expect(below.check()).rejects.toMatchObject({ code: "spool_unavailable" });
  });
});

describe("the store of a spool's directory", () => {
  it("is asked again until it answers, and the spool takes webhooks meanwhile, whatever the store throws", async () => {
    let answer: () => Promise<string>;
    const spool = bench.open({ identify: () => answer() });
    const drain = () => spool.drain(() => Promise.resolve());
    for (const error of [new Error("ECONNREFUSED"), new TillkitError("store_unavailable", "not now")]) {
      answer = () => Promise.reject(error);
      expect(await drain()).toMatchObject({ leftBecause: error });
      await spool.append(webhook(1));
      await spool.check();
    }
    answer = async () => "store-1";
    expect(await drain()).toEqual({ drained: 2, setAside: 0 });
    expect(await spool.tie.read()).toEqual({ store: "store-1" });
  });

  it("is the first one, also where two processes name theirs at the same time", async () => {
    const spools = ["a", "b", "c"].map((id) => bench.open({ identify: async () => id }));
    const ended = await Promise.allSettled(spools.map(({ tie }) => tie.read()));
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("is told from another one by an error with the directory, what waits in it, and both choices", async () => {
    const [old, next] = ["old", "new"].map((id) => bench.open({ identify: async () => id })) as [
      Spool,
      Spool,
    ];
    await old.tie.read();
    const refusal = () =>
      next.tie.read().then(
        () => "",
        ({ message }: Error) => message,
      );
    expect(await refusal()).toContain(`The spool ${bench.directory} belongs to another store`);
    expect(await refusal()).toMatch(
      /No webhook waits in it\. If the database is new on purpose, stop the app and remove this directory\. If not, put the old database back/,
    );
    await old.append(webhook(1));
    expect(await refusal()).toContain("Webhooks of the other store wait in it (files *.spool: 1).");
    expect(next.tie.problem).toMatchObject({
      code: "spool_unavailable",
      fix: expect.stringContaining("Remove the directory"),
    });
  });

  it("is on disk before a webhook is drained: its file, and then the entry that leads to it", async () => {
    const seen: string[] = [];
    const fs = hooked({
      syncFile: () => void seen.push("file"),
      syncDirectory: (file) => void seen.push(`directory ${path.basename(file)}`),
    });
    await bench.open({ fs, identify: async () => "store-1" }).tie.read();
    const parent = expect.stringMatching(/^directory tillkit-spool-/) as string;
    expect(seen).toEqual([parent, "file", "directory spool"]);
  });

  it("is told when its file is damaged, and no webhook is then taken", async () => {
    const identify = async () => "store-1";
    await bench.open({ identify }).tie.read();
    await writeFile(path.join(bench.directory, "store"), "{");
    const spool = bench.open({ identify });
    await expect(spool.tie.read()).rejects.toThrow("damaged");
    await expect(spool.append(webhook(1))).rejects.toThrow("damaged");
    await expect(spool.check()).rejects.toThrow("damaged");
  });
});
