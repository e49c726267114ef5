import { existsSync } from "node:fs";
import { realFileSystem, SpoolDirectory } from "../../../src/webhook/spool/spool-directory.js";
import { StoreTie } from "../../../src/webhook/spool/store-tie.js";
import { spoolBench, until } from "./fixtures.js";
import { gate } from "./hooked-file-system.js";

const bench = spoolBench();

afterEach(() => void jest.useRealTimers());

it("a spool is refused for a store that another one replaced, also after it was used, and allowed again", async () => {
  let store = "first";
  const tie = new StoreTie(new SpoolDirectory(bench.directory, realFileSystem), async () => store);
  await tie.require();
  store = "second";
  const refused = { code: "spool_unavailable", message: expect.stringContaining("another store") as string };
  await expect(tie.read()).rejects.toMatchObject(refused);
  await expect(tie.require()).rejects.toMatchObject(refused);
  store = "first";
  await tie.require();
  expect(tie.problem).toBeUndefined();
});

it("a spool that belongs to its store does not ask for the store's identity again", async () => {
  const identify = jest.fn(async () => "store-1");
  const tie = new StoreTie(new SpoolDirectory(bench.directory, realFileSystem), identify);
  await tie.require();
  await tie.require();
  await tie.check();
  expect(identify).toHaveBeenCalledTimes(1);
});

it("a spool remembers a webhook of its store for the next process", async () => {
  const directory = new SpoolDirectory(bench.directory, realFileSystem);
  const open = () => new StoreTie(directory, async () => "store-1");
  await open().require();
  await open().remember({ store: "store-1", webhook: "r-1" });
  expect(await open().read()).toEqual({ store: "store-1", webhook: "r-1" });
});

it("a disk that hangs makes the spool unavailable and is not asked again, until it answers", async () => {
  let goOn!: () => void;
  const waiting = new Promise<void>((resolve) => (goOn = resolve));
  const lstat = jest.fn((file: string) => waiting.then(() => realFileSystem.lstat(file)));
  const fs = { ...realFileSystem, lstat: lstat as never };
  const identify = jest.fn(async () => "store-1");
  const tie = new StoreTie(new SpoolDirectory(bench.directory, fs), identify);
  jest.useFakeTimers();
  const refused = {
    code: "spool_unavailable",
    message: expect.stringContaining("did not answer within 5000 ms") as string,
  };
  const read = tie.read().catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(5000);
  expect(await read).toMatchObject(refused);
  await expect(tie.require()).rejects.toMatchObject(refused);
  await expect(tie.remember({ store: "store-1", webhook: "r-1" })).rejects.toMatchObject(refused);
  await expect(tie.check()).rejects.toMatchObject(refused);
  expect(lstat).toHaveBeenCalledTimes(1);
  jest.useRealTimers();
  // The spool is needed most while the store is away.
  const away = new Error("The database is restarting.");
  identify.mockRejectedValueOnce(away);
  goOn();
  await until(() => tie.problem === undefined);
  await expect(tie.require()).rejects.toBe(away);
  expect(tie.problem).toBeUndefined();
  expect(await tie.read()).toEqual({ store: "store-1" });
});

it("a spool of another store stays refused when a disk answers that hung meanwhile", async () => {
  let store = "first";
  const fs = { ...realFileSystem };
  const tie = new StoreTie(new SpoolDirectory(bench.directory, fs), async () => store);
  await tie.require();
  const { opened, open } = gate();
  const writing = new Promise<void>((resolve) => {
    fs.rename = () => (resolve(), opened);
  });
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask"] });
  const remembered = tie.remember({ store: "first", webhook: "r-1" }).catch((error: unknown) => error);
  await writing;
  store = "second";
  await expect(tie.read()).rejects.toThrow("another store");
  await jest.advanceTimersByTimeAsync(5000);
  expect(await remembered).toMatchObject({ message: expect.stringContaining("did not answer") as string });
  open();
  for (let round = 0; round < 10; round++) await new Promise(setImmediate);
  expect(tie.problem).toMatchObject({ message: expect.stringContaining("another store") as string });
});

describe("the check of a spool that this process has not used", () => {
  const tieTo = (identify: () => Promise<string>) =>
    new StoreTie(new SpoolDirectory(bench.directory, realFileSystem), identify);

  it("finds that the spool belongs to another store, and writes nothing", async () => {
    await tieTo(async () => "first").check();
    expect(existsSync(bench.directory)).toBe(false);
    await tieTo(async () => "first").require();
    await tieTo(async () => "first").check();
    await expect(tieTo(async () => "second").check()).rejects.toMatchObject({ code: "spool_unavailable" });
  });

  it("passes while the store fails or hangs, because the spool may be the right one", async () => {
    await tieTo(async () => "first").require();
    await tieTo(() => Promise.reject(new Error("The database is restarting."))).check();
    await tieTo(() => new Promise(() => {})).check();
    expect(existsSync(bench.directory)).toBe(true);
  });
});
