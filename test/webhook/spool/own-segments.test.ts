import { OwnSegments } from "../../../src/webhook/spool/own-segments.js";
import {
  type FileSystem,
  realFileSystem,
  SpoolDirectory,
} from "../../../src/webhook/spool/spool-directory.js";
import { gate, systemError } from "./hooked-file-system.js";

const heartbeatMs = 1000;
const segment = (name: string, mtimeMs: number) => ({ name, size: 1, mtimeMs });

/** Makes the segments of one spool, and a list of their heartbeats and renames. */
function owned(failures: Partial<Record<string, string>> = {}) {
  const disk: { wait?: Promise<void> } = {};
  const beats: [string, number][] = [];
  const change = async (file: string, time?: unknown) => {
    const name = file.slice(file.lastIndexOf("/") + 1);
    const code = failures[name];
    if (code !== undefined) throw systemError(code);
    await disk.wait;
    if (time instanceof Date) beats.push([name, time.getTime()]);
    else beats.push([name, Number.NaN]);
  };
  const fs = { ...realFileSystem, utimes: change, rename: change } as unknown as FileSystem;
  const own = new OwnSegments(new SpoolDirectory("/spool", fs), { heartbeatMs, deadAfterMs: 5000 });
  const names = () => beats.splice(0).map(([name]) => name);
  return { own, beats, names, failures, disk };
}

describe("the segments of a spool", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it("have names in their order, with the process that owns them", () => {
    const { own } = owned();
    const [first, second] = [own.nextName(), own.nextName()];
    expect(first).toMatch(new RegExp(`^[0-9a-f]{12}-${process.pid}-[0-9a-f]{16}-00000001\\.spool$`));
    expect(second).toBe(first.replace("00000001", "00000002"));
    expect(owned().own.nextName()).not.toBe(first);
  });

  it("each show a heartbeat, until the last one is dropped", async () => {
    const { own, names } = owned();
    expect(own.names).toEqual([]);
    own.add("a");
    own.add("b");
    await jest.advanceTimersByTimeAsync(2 * heartbeatMs);
    expect(names()).toEqual(["a", "b", "a", "b"]);
    own.drop("a");
    expect(own.names).toEqual(["b"]);
    await jest.advanceTimersByTimeAsync(heartbeatMs);
    expect(names()).toEqual(["b"]);
    own.drop("b");
    own.drop("b");
    await jest.advanceTimersByTimeAsync(5.5 * heartbeatMs);
    expect(names()).toEqual([]);
    // The timer was stopped, so the next segment has its first heartbeat after a whole interval.
    own.add("c");
    await jest.advanceTimersByTimeAsync(0.75 * heartbeatMs);
    expect(names()).toEqual([]);
    await jest.advanceTimersByTimeAsync(0.25 * heartbeatMs);
    expect(names()).toEqual(["c"]);
  });

  it("are in a new list after each change, so that a running loop keeps its own", () => {
    const { own } = owned();
    own.add("a");
    const one = own.names;
    own.add("b");
    const both = own.names;
    own.drop("a");
    expect([one, both, own.names]).toEqual([["a"], ["a", "b"], ["b"]]);
    own.drop("b");
  });

  it("are forgotten where another process adopted them, and not where the disk failed", async () => {
    const { own, names } = owned({ gone: "ENOENT", failing: "EIO" });
    for (const name of ["gone", "failing", "well"]) own.add(name);
    await jest.advanceTimersByTimeAsync(heartbeatMs);
    expect(own.names).toEqual(["failing", "well"]);
    expect(names()).toEqual(["well"]);
  });

  it("are dated back when they are released, and show no heartbeat any more", async () => {
    const { own, beats } = owned();
    own.add("a");
    await own.release();
    expect(beats).toEqual([["a", 0]]);
    expect(own.names).toEqual([]);
    await jest.advanceTimersByTimeAsync(5 * heartbeatMs);
    expect(beats).toHaveLength(1);
  });

  it("show one heartbeat at a time on a slow disk, and are dated back after the one that runs", async () => {
    const { own, beats, disk } = owned();
    const { opened, open } = gate();
    own.add("a");
    disk.wait = opened;
    await jest.advanceTimersByTimeAsync(3 * heartbeatMs);
    delete disk.wait;
    const releasing = own.release();
    open();
    await releasing;
    expect(beats).toEqual([
      ["a", expect.any(Number)],
      ["a", 0],
    ]);
  });

  it("show heartbeats by a timer that does not keep the process alive", () => {
    const interval = jest.spyOn(globalThis, "setInterval");
    owned().own.add("a");
    expect((interval.mock.results[0]!.value as NodeJS.Timeout).hasRef()).toBe(false);
    interval.mockRestore();
  });

  it("have a heartbeat before they have the name of their adopter", async () => {
    const { own, beats } = owned();
    await own.adopt("a");
    expect(beats).toEqual([
      ["a", Date.now()],
      ["a", Number.NaN],
    ]);
  });

  it("are abandoned after more than deadAfterMs without a heartbeat", () => {
    const { own } = owned();
    expect(own.isAbandoned(segment("a", Date.now() - 5000))).toBe(false);
    expect(own.isAbandoned(segment("a", Date.now() - 5001))).toBe(true);
  });

  it("are abandoned where a name that starts and ends like theirs has no living process of this host", () => {
    const { own } = owned();
    const dead = own.nextName().replace(`-${process.pid}-`, "-2147483647-");
    expect(own.isAbandoned(segment(dead, Date.now()))).toBe(true);
    for (const other of [`x${dead}`, `${dead}.spool`])
      expect(own.isAbandoned(segment(other, Date.now()))).toBe(false);
  });

  it("are not adopted where another process was faster, and the adoption rejects where the disk fails", async () => {
    const { own, failures } = owned({ a: "ENOENT", b: "EIO" });
    expect(await own.adopt("a")).toBeUndefined();
    await expect(own.adopt("b")).rejects.toMatchObject({ code: "EIO" });
    expect(own.names).toEqual([]);
    delete failures["a"];
    const adopted = await own.adopt("a");
    expect(adopted).toMatch(/\.spool$/);
    expect(own.names).toEqual([adopted]);
  });
});
