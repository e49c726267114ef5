import { EventEmitter } from "node:events";
import { setImmediate as nextIteration } from "node:timers/promises";
import { type Ask, AnswerLimits } from "../../../../src/store/sql/pooled/answer-limits.js";

afterEach(() => jest.useRealTimers());

/** Limits of 3000 + 1000 ms with a clock of the test. */
function limits() {
  jest.useFakeTimers({ doNotFake: ["setImmediate"] });
  const isOver = (error: unknown): boolean => (error as Error).message === "read-only";
  const answers = new AnswerLimits(3000, isOver);
  const cut: string[] = [];
  const connect = (
    name: string,
    waitsForLock?: () => Promise<boolean>,
    isPoolFull = (): boolean => false,
  ): { session: object; ask: Ask; checks: number } => {
    const connection = { session: { name }, ask: undefined as never as Ask, checks: 0 };
    const { session } = connection;
    const query = async (): Promise<void> => void connection.checks++;
    const cutOff = () => void cut.push(name);
    connection.ask = answers.on({
      session,
      query,
      cutOff,
      isPoolFull,
      ...(waitsForLock && { waitsForLock }),
    });
    return connection;
  };
  const pass = async (ms: number): Promise<void> => {
    jest.advanceTimersByTime(ms);
    await nextIteration();
    await nextIteration();
  };
  return { answers, cut, connect, pass };
}

const never = (): Promise<never> => new Promise(() => undefined);
const answering = async (): Promise<string> => "answer";

describe("a statement of the kit", () => {
  it("has the answer of its database, and its connection stays", async () => {
    const { connect, cut, pass } = limits();
    const { ask } = connect("a");
    expect(await ask(answering)).toBe("answer");
    await expect(ask(() => Promise.reject(new Error("no such table")))).rejects.toThrow("no such table");
    await pass(10_000);
    expect(cut).toEqual([]);
  });

  it("without an answer is ended a second after the longest wait for a lock, and its connection is cut off", async () => {
    const { connect, cut, pass } = limits();
    const asked = connect("a").ask(never);
    asked.catch(() => undefined);
    await pass(3999);
    expect(cut).toEqual([]);
    await pass(1);
    await expect(asked).rejects.toMatchObject({ code: "store_unavailable" });
    expect(cut).toEqual(["a"]);
  });

  it("that has its answer in time is not late because this process was suspended", async () => {
    const { connect, cut } = limits();
    let answer!: (text: string) => void;
    const asked = connect("a").ask(() => new Promise<string>((resolve) => (answer = resolve)));
    jest.advanceTimersByTime(60_000);
    answer("it was there");
    await nextIteration();
    expect(await asked).toBe("it was there");
    expect(cut).toEqual([]);
  });

  it("that has its answer while the server is asked about a lock is not late", async () => {
    const { answers, connect, cut, pass } = limits();
    const idle = connect("idle");
    await idle.ask(answering);
    let answer!: (text: string) => void;
    const sent = new Promise<string>((resolve) => (answer = resolve));
    let reply!: (waits: boolean) => void;
    const asking = new Promise<boolean>((resolve) => (reply = resolve));
    const asked = connect("slow", () => asking).ask(() => sent);
    await pass(4000);
    answer("it came");
    await nextIteration();
    reply(false);
    await nextIteration();
    expect(await asked).toBe("it came");
    expect([cut, answers.isSuspect(idle.session)]).toEqual([[], false]);
  });

  it("that reads many rows, migrates or is the application's may take longer", async () => {
    const { connect, cut, pass } = limits();
    for (const purpose of ["upkeep", "migration", "application"] as const)
      connect(purpose)
        .ask(never, purpose)
        .catch(() => undefined);
    await pass(60_000);
    expect(cut).toEqual([]);
    await pass(3000);
    expect(cut).toEqual(["upkeep", "application"]);
  });

  it("that migrates may take an hour", async () => {
    const { connect, cut, pass } = limits();
    connect("migration")
      .ask(never, "migration")
      .catch(() => undefined);
    await pass(3_599_999);
    expect(cut).toEqual([]);
    await pass(1);
    expect(cut).toEqual(["migration"]);
  });

  it("that waits for a lock of another one is ended, and no other connection becomes suspect", async () => {
    const { answers, connect, cut, pass } = limits();
    const [idle, waiting] = [connect("idle"), connect("waiting", async () => true)];
    await idle.ask(answering);
    const asked = waiting.ask(never);
    asked.catch(() => undefined);
    connect("handler")
      .ask(never, "application")
      .catch(() => undefined);
    await pass(4000);
    await expect(asked).rejects.toMatchObject({ code: "store_unavailable" });
    expect([cut, answers.isSuspect(idle.session)]).toEqual([["waiting"], false]);
  });

  it("that may wait for a lock, and fills the pool, makes no other connection suspect", async () => {
    const { answers, connect, cut, pass } = limits();
    const idle = connect("idle");
    await idle.ask(answering);
    connect("waiting", never, () => true)
      .ask(never)
      .catch(() => undefined);
    await pass(4000);
    await pass(500);
    expect([cut, answers.isSuspect(idle.session)]).toEqual([["waiting"], false]);
  });

  it("that fills the pool makes no other connection suspect, although the pool is not full at the limit", async () => {
    const { answers, connect, cut, pass } = limits();
    const idle = connect("idle");
    await idle.ask(answering);
    let isFull = true;
    connect("waiting", never, () => isFull)
      .ask(never)
      .catch(() => undefined);
    await pass(4000);
    isFull = false;
    await pass(500);
    expect([cut, answers.isSuspect(idle.session)]).toEqual([["waiting"], false]);
  });

  it.each([
    ["says that it waits for none", async () => false],
    ["does not answer either", () => new Promise<never>(() => undefined)],
    ["fails", () => Promise.reject(new Error("no connection was free"))],
  ])("is late where the server %s", async (_, waitsForLock) => {
    const { answers, connect, cut, pass } = limits();
    const idle = connect("idle");
    await idle.ask(answering);
    connect("dead", waitsForLock)
      .ask(never)
      .catch(() => undefined);
    await pass(4000);
    await pass(500);
    expect([cut, answers.isSuspect(idle.session)]).toEqual([["dead"], true]);
  });
});

describe("after a connection was found dead", () => {
  it("those that have not answered since are suspect, and new ones are not", async () => {
    const { answers, connect, pass } = limits();
    const [idle, dead, fresh] = [connect("idle"), connect("dead"), connect("fresh")];
    await idle.ask(answering);
    dead.ask(never).catch(() => undefined);
    await pass(4000);
    expect(answers.isSuspect(idle.session)).toBe(true);
    expect(answers.isSuspect(fresh.session)).toBe(false);
    await pass(1);
    await fresh.ask(answering);
    expect(answers.isSuspect(fresh.session)).toBe(false);
  });

  it("statements that have waited for half of the limit are ended too, those of handlers included", async () => {
    const { connect, cut, pass } = limits();
    connect("dead")
      .ask(never)
      .catch(() => undefined);
    await pass(1000);
    connect("handler")
      .ask(never, "application")
      .catch(() => undefined);
    const alive = connect("alive");
    await pass(2000);
    await alive.ask(answering);
    alive.ask(never).catch(() => undefined);
    await pass(1000);
    expect(cut).toEqual(["dead", "handler"]);
  });

  it("new ones are not suspect because a statement from before that moment is late, too", async () => {
    const { answers, connect, cut, pass } = limits();
    const [dead, earlier, fresh] = [connect("dead"), connect("earlier"), connect("fresh")];
    dead.ask(never).catch(() => undefined);
    await pass(3000);
    earlier.ask(never).catch(() => undefined);
    await pass(1000);
    await fresh.ask(answering);
    await pass(3000);
    expect(cut).toEqual(["dead", "earlier"]);
    expect(answers.isSuspect(fresh.session)).toBe(false);
  });

  it("a handler's next statement on a suspect connection waits for an answer of the kit's own", async () => {
    const { connect, pass } = limits();
    const handler = connect("handler");
    await handler.ask(answering, "application");
    connect("dead")
      .ask(never)
      .catch(() => undefined);
    await pass(4000);
    expect(await handler.ask(answering, "application")).toBe("answer");
    expect(handler.checks).toBe(1);
    await handler.ask(answering, "application");
    expect(handler.checks).toBe(1);
  });

  it("an application's connections are suspect that the kit has never used, unless they were opened later", async () => {
    const { answers, connect, pass } = limits();
    const pool = new EventEmitter();
    answers.watchPool(pool, "connect", (session) => session);
    const [old, fresh] = [{}, {}];
    connect("dead")
      .ask(never)
      .catch(() => undefined);
    await pass(4000);
    await pass(1);
    pool.emit("connect", fresh);
    expect([answers.isSuspect(old), answers.isSuspect(fresh)]).toEqual([true, false]);
  });

  it("an old connection of a pool is suspect to each store that uses the pool, also to a store that came later", async () => {
    const { answers, connect, pass } = limits();
    const pool = new EventEmitter();
    answers.watchPool(pool, "connect", (session) => session);
    connect("dead")
      .ask(never)
      .catch(() => undefined);
    await pass(4000);
    const old = {};
    expect(answers.isSuspect(old)).toBe(true);
    await pass(1);
    answers.watchPool(pool, "connect", (session) => session);
    expect([answers.isSuspect(old), pool.listenerCount("connect")]).toEqual([true, 1]);
  });
});

it("a session that says that it is read-only is cut off, and the others are suspect", async () => {
  const { answers, connect, cut, pass } = limits();
  const [idle, standby] = [connect("idle"), connect("standby")];
  await idle.ask(answering);
  await pass(1);
  await expect(standby.ask(() => Promise.reject(new Error("read-only")))).rejects.toThrow("read-only");
  expect(cut).toEqual(["standby"]);
  expect(answers.isSuspect(idle.session)).toBe(true);
});
