import { EventEmitter } from "node:events";
import timers, { setImmediate as nextIteration } from "node:timers/promises";
import { type Session } from "../../../../src/store/sql/driver/sql-tx.js";
import { type WatchedClient } from "../../../../src/store/sql/postgres/pool.js";
import { Wakeups } from "../../../../src/store/sql/postgres/wakeups.js";

afterEach(() => jest.restoreAllMocks());

/** Returns wakeups over connections of the test. */
function wakeupsOver() {
  const sent: { params: readonly unknown[]; end: (error?: Error) => void }[] = [];
  const run = (_: string, params: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      sent.push({ params, end: (error) => (error ? reject(error) : resolve({ rows: [], affected: 0 })) });
    });
  const opened: { client: EventEmitter; abandoned: number; connect: (error?: Error) => void }[] = [];
  const connect = () =>
    new Promise<WatchedClient>((resolve, reject) => {
      const client = Object.assign(new EventEmitter(), { query: async () => ({}) });
      const connection = {
        client,
        abandoned: 0,
        connect: (error?: Error) => (error ? reject(error) : resolve(watched as unknown as WatchedClient)),
      };
      const watched = {
        client,
        ask: (send: () => unknown) => send(),
        abandon: () => void connection.abandoned++,
      };
      opened.push(connection);
    });
  const wakeups = new Wakeups("shop_events", { run: run as unknown as Session["run"] }, connect);
  /** Resolves when this number of notifications was sent. */
  const sends = async (count: number): Promise<void> => {
    while (sent.length < count) await nextIteration();
  };
  return { wakeups, sent, sends, opened };
}

describe("a notification", () => {
  it("follows for events that were saved while another one was sent, and is shared by all of them", async () => {
    const { wakeups, sent, sends } = wakeupsOver();
    wakeups.announce();
    await sends(1);
    wakeups.announce();
    wakeups.announce();
    sent[0]!.end();
    await sends(2);
    sent[1]!.end();
    await wakeups.close();
    expect(sent.map(({ params }) => params[0])).toEqual(["shop_events", "shop_events"]);
  });

  it("that fails does not prevent the next one", async () => {
    const { wakeups, sent, sends } = wakeupsOver();
    wakeups.announce();
    await sends(1);
    sent[0]!.end(new Error("the connection was lost"));
    await nextIteration();
    wakeups.announce();
    await sends(2);
    sent[1]!.end();
    await wakeups.close();
    expect(sent).toHaveLength(2);
  });

  it("follows for later events, and for nothing else", async () => {
    // The pause after a notification, without waiting for it.
    jest.spyOn(timers, "setTimeout").mockImplementation(async (_ms, value) => value);
    const { wakeups, sent, sends } = wakeupsOver();
    for (const count of [1, 2]) {
      wakeups.announce();
      await sends(count);
      sent[count - 1]!.end();
      for (let n = 0; n < 5; n++) await nextIteration();
      expect(sent).toHaveLength(count);
    }
    await wakeups.close();
  });
});

describe("a listener", () => {
  it("is called for notifications of other processes until it stops, also if it was added twice", async () => {
    const { wakeups, opened } = wakeupsOver();
    const woken: string[] = [];
    const listener = (): void => void woken.push("woken");
    const stops = [wakeups.listen(listener), wakeups.listen(listener)];
    expect(opened).toHaveLength(1);
    const [{ client, connect }] = opened as [(typeof opened)[0]];
    connect();
    while (woken.length < 2) await nextIteration();
    const wakenBy = (payload: string): number => {
      woken.length = 0;
      client.emit("notification", { payload });
      return woken.length;
    };
    expect(wakenBy("another process")).toBe(2);
    stops[0]!();
    expect([wakenBy("another process"), opened[0]!.abandoned]).toEqual([1, 0]);
    stops[1]!();
    expect([wakenBy("another process"), opened[0]!.abandoned]).toEqual([0, 1]);
    await wakeups.close();
  });

  it("that stops before its connection is open leaves no connection behind", async () => {
    const { wakeups, opened } = wakeupsOver();
    wakeups.listen(() => undefined)();
    opened[0]!.connect();
    await wakeups.close();
    expect([opened.length, opened[0]!.abandoned]).toEqual([1, 1]);
  });

  it("that stops before its connection listens leaves no connection behind", async () => {
    const { wakeups, opened } = wakeupsOver();
    const woken: string[] = [];
    const stop = wakeups.listen(() => void woken.push("woken"));
    const asked = new Promise<(result: object) => void>((resolve) => {
      Object.assign(opened[0]!.client, { query: () => new Promise(resolve) });
    });
    opened[0]!.connect();
    const listens = await asked;
    stop();
    listens({});
    await wakeups.close();
    expect([woken, opened.length, opened[0]!.abandoned]).toEqual([[], 1, 1]);
  });

  it("uses the connection that another listener opened before it stopped", async () => {
    const { wakeups, opened } = wakeupsOver();
    wakeups.listen(() => undefined)();
    const woken: string[] = [];
    const stop = wakeups.listen(() => void woken.push("woken"));
    opened[0]!.connect();
    while (woken.length < 1) await nextIteration();
    opened[0]!.client.emit("notification", { payload: "another process" });
    stop();
    await wakeups.close();
    expect([woken.length, opened.length, opened[0]!.abandoned]).toEqual([2, 1, 1]);
  });

  it("is called again after a connection that could not be opened, and after one that was lost", async () => {
    const { wakeups, opened } = wakeupsOver();
    const woken: string[] = [];
    wakeups.listen(() => void woken.push("woken"));
    opened[0]!.connect(new Error("refused"));
    for (const number of [2, 3]) {
      while (opened.length < number) await nextIteration();
      woken.length = 0;
      opened[number - 1]!.connect();
      while (woken.length === 0) await nextIteration();
      opened[number - 1]!.client.emit("error", new Error("lost"));
    }
    await wakeups.close();
    expect(opened.map(({ abandoned }) => abandoned)).toEqual([0, 1, 1]);
  });

  it("stays on its new connection where the old one fails once more, and asks only the new one", async () => {
    jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick"] });
    try {
      const { wakeups, opened } = wakeupsOver();
      const woken: string[] = [];
      const asked: number[] = [];
      wakeups.listen(() => void woken.push("woken"));
      for (const number of [1, 2]) {
        const { client, connect } = opened[number - 1]!;
        Object.assign(client, { query: async () => void asked.push(number) });
        connect();
        while (woken.length < number) await nextIteration();
        if (number === 1) client.emit("error", new Error("lost"));
        await jest.advanceTimersByTimeAsync(100);
      }
      opened[0]!.client.emit("error", new Error("lost again"));
      asked.length = 0;
      await jest.advanceTimersByTimeAsync(10_000);
      expect([asked, opened.map(({ abandoned }) => abandoned)]).toEqual([[2], [1, 0]]);
      await wakeups.close();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
