import { Deadlines, type Waiting } from "../../src/shared/deadlines.js";

interface Named extends Waiting {
  name: string;
}

afterEach(() => jest.useRealTimers());

/** Deadlines of 100 ms with a clock of the test, and the items that were late. */
function watched() {
  jest.useFakeTimers();
  const late: string[] = [];
  const deadlines = new Deadlines<Named>(100, ({ name }) => late.push(name));
  const wait = (name: string): Named => {
    const item = { name, since: performance.now() };
    deadlines.add(item);
    return item;
  };
  return { deadlines, late, wait };
}

describe("deadlines of equal length", () => {
  it("pass in the order in which the items came, each once", () => {
    const { late, wait } = watched();
    wait("first");
    jest.advanceTimersByTime(60);
    wait("second");
    jest.advanceTimersByTime(39);
    expect(late).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(late).toEqual(["first"]);
    jest.advanceTimersByTime(59);
    expect(late).toEqual(["first"]);
    jest.advanceTimersByTime(1);
    expect(late).toEqual(["first", "second"]);
    jest.advanceTimersByTime(1000);
    expect(late).toEqual(["first", "second"]);
  });

  it("do not pass for an item that was removed", () => {
    const { deadlines, late, wait } = watched();
    const first = wait("first");
    jest.advanceTimersByTime(50);
    deadlines.delete(first);
    deadlines.delete(first);
    wait("second");
    jest.advanceTimersByTime(99);
    expect(late).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(late).toEqual(["second"]);
  });

  it("pass for the neighbours of a removed item, at any position", () => {
    for (const ended of [0, 1, 2, 3]) {
      const { deadlines, late, wait } = watched();
      const items = ["a", "b", "c", "d"].map(wait);
      deadlines.delete(items[ended]!);
      deadlines.delete(items[ended]!);
      wait("e");
      jest.advanceTimersByTime(100);
      expect(late).toEqual(["a", "b", "c", "d", "e"].filter((name) => name !== items[ended]!.name));
      jest.useRealTimers();
    }
  });

  it("need one timer for any number of items, and none when no item came for a full length", () => {
    const { deadlines, wait } = watched();
    const items = ["a", "b", "c"].map(wait);
    expect(jest.getTimerCount()).toBe(1);
    for (const item of items) deadlines.delete(item);
    jest.advanceTimersByTime(100);
    expect(jest.getTimerCount()).toBe(0);
    wait("later");
    expect(jest.getTimerCount()).toBe(1);
  });

  it("allow a late item to wait again", () => {
    jest.useFakeTimers();
    const late: number[] = [];
    const deadlines = new Deadlines<Waiting>(100, ({ since }) => {
      late.push(since);
      if (late.length < 3) deadlines.add({ since: performance.now() });
    });
    const start = performance.now();
    deadlines.add({ since: start });
    jest.advanceTimersByTime(1000);
    expect(late.map((since) => since - start)).toEqual([0, 100, 200]);
  });

  it("keep the process alive while an item waits, and no longer", () => {
    const deadlines = new Deadlines<Waiting>(60_000, () => {});
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const item = { since: performance.now() };
    deadlines.add(item);
    expect(timers()).toBe(before + 1);
    deadlines.delete(item);
    expect(timers()).toBe(before);
    const next = { since: performance.now() };
    deadlines.add(next);
    expect(timers()).toBe(before + 1);
    deadlines.delete(next);
  });
});
