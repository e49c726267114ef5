import {
  chmod,
  chown,
  lutimes,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  truncate,
  utimes,
} from "node:fs/promises";
import path from "node:path";
import { type SpoolOptions } from "../../../src/webhook/spool/spool.js";
import { type FileSystem, realFileSystem } from "../../../src/webhook/spool/spool-directory.js";
import { keeper, spoolBench, webhook } from "./fixtures.js";
import { hooked, systemError } from "./hooked-file-system.js";

const bench = spoolBench();
afterEach(() => void jest.restoreAllMocks());

/** Leaves one segment in the directory, and returns its path. */
async function leaveSegment(): Promise<string> {
  const spool = bench.open();
  await spool.append(webhook(1));
  await spool.close();
  return (await bench.segments())[0]!;
}

/** Drains, and returns why the segment was set aside. Expects that it is not recorded, and kept. */
async function setAsideReason(options: Partial<SpoolOptions> = {}): Promise<string | undefined> {
  const told: string[] = [];
  const { ids, record } = keeper();
  const spool = bench.open({ ...options, onSetAside: ({ message }) => told.push(message) });
  expect(await spool.drain(record)).toEqual({ drained: 0, setAside: 1 });
  expect(ids).toEqual([]);
  expect(await bench.segments()).toEqual([]);
  expect(await spool.stats()).toMatchObject({ setAside: 1 });
  return told[0];
}

describe("a segment that others could have written", () => {
  it("is set aside as it is if others may write to it", async () => {
    const file = await leaveSegment();
    await chmod(file, 0o622);
    const bytes = await readFile(file);
    expect(await setAsideReason()).toContain("can be written by all users (mode 622)");
    const aside = path.join(bench.directory, "set-aside");
    const [name] = (await readdir(aside)).filter((each) => each.endsWith(".spool"));
    expect(await readFile(path.join(aside, name!))).toEqual(bytes);
    const reason = await readFile(path.join(aside, name!.replace(/spool$/, "txt")), "utf8");
    expect(reason).toContain(" path_exposed: ");
  });

  it("leaves no reason behind at a drain that cannot set it aside", async () => {
    const file = await leaveSegment();
    await chmod(file, 0o622);
    let isFixed = false;
    const fs = hooked({
      rename: (from) => {
        if (from === file && !isFixed) throw systemError("EPERM");
      },
    });
    const spool = bench.open({ fs });
    const aside = path.join(bench.directory, "set-aside");
    for (const _drain of [1, 2]) {
      expect(await spool.drain(keeper().record)).toMatchObject({
        setAside: 0,
        leftBecause: { code: "spool_unavailable" },
      });
      expect(await readdir(aside)).toEqual([]);
    }
    isFixed = true;
    expect(await spool.drain(keeper().record)).toEqual({ drained: 0, setAside: 1 });
    const names = (await readdir(aside)).toSorted();
    expect(names.map((name) => path.extname(name))).toEqual([".spool", ".txt"]);
  });

  it("is set aside if it is a link", async () => {
    const file = await leaveSegment();
    await rename(file, path.join(bench.directory, "elsewhere"));
    await symlink(path.join(bench.directory, "elsewhere"), file);
    await lutimes(file, 0, 0);
    expect(await setAsideReason()).toContain("is a symbolic link");
  });

  it("is set aside if it is no file", async () => {
    await leaveSegment();
    const [file] = await bench.segments();
    await rename(file!, `${file}.x`);
    await mkdir(path.join(bench.directory, "folder.spool"));
    await utimes(path.join(bench.directory, "folder.spool"), 0, 0);
    expect(await setAsideReason()).toContain("is not a file");
  });

  it("is set aside if it belongs to another user", async () => {
    await leaveSegment();
    const lstat = async (file: string) => {
      const stats = await realFileSystem.lstat(file);
      return file.endsWith(".spool") ? Object.assign(stats, { uid: 4321 }) : stats;
    };
    const fs = { ...realFileSystem, lstat } as FileSystem;
    expect(await setAsideReason({ fs })).toContain("belongs to user 4321");
  });

  it("stays where it is as long as its owner lives, who goes on writing to it and records it", async () => {
    const owner = bench.open();
    await owner.append(webhook(1));
    const [file] = await bench.segments();
    await chmod(file!, 0o622);
    const other = bench.open();
    expect(await other.drain(keeper().record)).toEqual({ drained: 0, setAside: 0 });
    expect(await bench.segments()).toEqual([file]);
    await owner.append(webhook(2));
    await chmod(file!, 0o600);
    const { ids, record } = keeper();
    expect(await owner.drain(record)).toEqual({ drained: 2, setAside: 0 });
    expect(ids).toEqual(["r1", "r2"]);
  });
});

describe("a directory that others could have written", () => {
  const refused = { code: "path_exposed" };

  /** Expects that nothing is written to the directory, recorded from it, or lost. Returns why it is refused. */
  async function refusedBecause(): Promise<string> {
    const before = await bench.segments();
    const { ids, record } = keeper();
    const spool = bench.open();
    await expect(spool.append(webhook(2))).rejects.toMatchObject(refused);
    await expect(spool.stats()).rejects.toMatchObject(refused);
    await expect(spool.check()).rejects.toMatchObject(refused);
    const { leftBecause } = await spool.drain(record);
    expect(leftBecause).toMatchObject(refused);
    expect(ids).toEqual([]);
    expect(await bench.segments()).toEqual(before);
    return (leftBecause as Error).message;
  }

  it("is refused if others may write to it, until that is fixed", async () => {
    await leaveSegment();
    await chmod(bench.directory, 0o777);
    expect(await refusedBecause()).toContain("can be written by all users (mode 777)");
    await chmod(bench.directory, 0o700);
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(ids).toEqual(["r1"]);
  });

  it("loses the right of its group to write, where this process owns it", async () => {
    await leaveSegment();
    await chmod(bench.directory, 0o2770);
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(ids).toEqual(["r1"]);
    expect((await stat(bench.directory)).mode & 0o777).toBe(0o750);
  });

  it("is refused if its group may write to it, and it belongs to root", async () => {
    await leaveSegment();
    const lstat = async (file: string) => {
      const stats = await realFileSystem.lstat(file);
      return file === bench.directory ? Object.assign(stats, { uid: 0, mode: stats.mode | 0o020 }) : stats;
    };
    jest.spyOn(process, "geteuid").mockReturnValue(4321);
    const spool = bench.open({ fs: { ...realFileSystem, lstat } as FileSystem });
    const { leftBecause } = await spool.drain(keeper().record);
    expect(leftBecause).toMatchObject(refused);
    expect((leftBecause as Error).message).toContain("can be written by its group");
    expect(await bench.segments()).toHaveLength(1);
  });

  it("is refused if it is a link, also to nothing", async () => {
    await symlink(`${bench.directory}-missing`, bench.directory);
    expect(await refusedBecause()).toContain("is a symbolic link");
    await expect(stat(`${bench.directory}-missing`)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is refused if it belongs to another user", async () => {
    await leaveSegment();
    // Root may give it away; what belongs to root is accepted by all.
    if (process.geteuid?.() === 0) await chown(bench.directory, 4321, 4321);
    else jest.spyOn(process, "geteuid").mockReturnValue(4321);
    expect(await refusedBecause()).toContain("user 4321");
  });
});

describe("the key of a directory", () => {
  const keyFile = () => path.join(bench.directory, "key");

  it("is shared by spools that start at the same time, and is kept", async () => {
    const spools = Array.from({ length: 8 }, () => bench.open());
    await Promise.all(spools.map((spool, id) => spool.append(webhook(id))));
    const key = await readFile(keyFile());
    await Promise.all(spools.map((spool) => spool.close()));
    const { ids, record } = keeper();
    expect(await bench.open().drain(record)).toEqual({ drained: 8, setAside: 0 });
    expect(ids.toSorted()).toEqual(Array.from({ length: 8 }, (_, id) => `r${id}`));
    expect(await readFile(keyFile())).toEqual(key);
    expect((await readdir(bench.directory)).filter((name) => name !== "set-aside")).toEqual(["key"]);
  });

  it("stops everything if it is lost, and is not made again: the webhooks wait until it is put back", async () => {
    await leaveSegment();
    const lost = path.join(bench.directory, "lost");
    await rename(keyFile(), lost);
    const spool = bench.open();
    const refused = { code: "spool_unavailable", message: expect.stringContaining("Put it back") as string };
    await expect(spool.check()).rejects.toMatchObject(refused);
    await expect(spool.stats()).rejects.toMatchObject(refused);
    await expect(spool.append(webhook(2))).rejects.toMatchObject(refused);
    const { ids, record } = keeper();
    expect(await spool.drain(record)).toMatchObject({ drained: 0, setAside: 0, leftBecause: refused });
    await rename(lost, keyFile());
    await spool.check();
    expect(await spool.drain(record)).toEqual({ drained: 1, setAside: 0 });
    expect(ids).toEqual(["r1"]);
  });

  it("is made anew where no line needs the one that is lost", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    await spool.drain(keeper().record);
    await rename(keyFile(), path.join(bench.directory, "lost"));
    await spool.check();
    await spool.append(webhook(2));
    const { ids, record } = keeper();
    await spool.drain(record);
    expect(ids).toEqual(["r2"]);
  });

  it.each([
    ["others could have written it", () => chmod(keyFile(), 0o666), { code: "path_exposed" }],
    ["it was cut off", () => truncate(keyFile(), 7), { code: "spool_unavailable" }],
    [
      "it is a link",
      async () => {
        await rename(keyFile(), path.join(bench.directory, "elsewhere"));
        await symlink(path.join(bench.directory, "elsewhere"), keyFile());
      },
      { code: "path_exposed" },
    ],
  ])("stops everything and loses nothing if %s", async (_, spoil, refused) => {
    await leaveSegment();
    await spoil();
    const spool = bench.open();
    await expect(spool.append(webhook(2))).rejects.toMatchObject(refused);
    expect((await spool.drain(keeper().record)).leftBecause).toMatchObject(refused);
    expect(await bench.segments()).toHaveLength(1);
  });
});
