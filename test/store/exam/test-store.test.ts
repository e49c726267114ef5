import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { MemoryStore, storeOver } from "tillkit";
import { type SqlPaymentStore, sqliteStore } from "tillkit/sql";
import { examineStore, testStore } from "tillkit/testing";
import { temporaryFiles } from "../sql/support/temporary-files.js";
import { memoryAdapter } from "../over/memory-adapter.js";
import { defectiveReaders } from "./defective-readers.js";
import { type Claim } from "../../../src/store/contract.js";
import { but, type Defect, defects } from "./defective-stores.js";

const nextFile = temporaryFiles();

/** Returns the exam's checks by name, for a store that `spoil` has changed. */
function examOf(
  spoil: (store: SqlPaymentStore) => SqlPaymentStore,
): Map<string, (context?: object) => Promise<void>> {
  const checks = new Map<string, (context?: object) => Promise<void>>();
  testStore({
    name: "it",
    create: async () => spoil(sqliteStore(nextFile(), { busyTimeoutMs: 300 })),
    test: (name, run) => checks.set(name.slice("it: ".length), run),
  });
  return checks;
}

describe("the exam", () => {
  it("names each check differently", () => {
    const names: string[] = [];
    testStore({
      create: () => Promise.reject(new Error("not needed")),
      test: (name) => names.push(name),
    });
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => name.startsWith("store: "))).toBe(true);
  });

  it("fails a store whose calls reject", async () => {
    const checks = examOf((store) => ({ ...store, transaction: () => Promise.reject(new Error("down")) }));
    const first = checks.get("a transaction returns the result of its run, and others see its writes")!;
    await expect(first()).rejects.toThrow("down");
  });
});

describe("a check with a second store over the same data", () => {
  const lease = "a claimed dispatch is not claimed again while its lease lasts";

  it.each([
    ["fails where a lease holds only in the process that claimed", true],
    ["passes where it holds in both", false],
  ])("%s", async (_, isOfProcess) => {
    const file = nextFile();
    const leased: Claim[] = [];
    const checks = new Map<string, () => Promise<void>>();
    testStore({
      name: "it",
      create: async () => {
        const store = sqliteStore(file);
        return but(store, { claim: async (options) => keep(await store.claim(options)) });
      },
      reopen: async () => {
        const store = sqliteStore(file);
        if (!isOfProcess) return store;
        return but(store, { claim: async (options) => [...leased, ...(await store.claim(options))] });
      },
      test: (name, run) => checks.set(name, run),
    });
    function keep(claims: Claim[]): Claim[] {
      leased.push(...claims);
      return claims;
    }
    const failure = await checks.get(`it: ${lease}`)!().catch((error: Error) => error.message);
    expect(failure?.startsWith(`This does not hold: ${lease}.`)).toBe(isOfProcess || undefined);
  });
});

describe("a failed check", () => {
  it("says in one sentence what went wrong, the line of the contract, and the calls that led there", async () => {
    const checks = examOf((store) => {
      const settle = async () => true;
      return new Proxy(store, {
        get: (_, name) => {
          const member: unknown = name === "settle" ? settle : Reflect.get(store, name);
          return typeof member === "function" ? (member.bind(store) as unknown) : member;
        },
      });
    });
    const { message } = (await checks.get("an old fence settles nothing")!().catch(
      (error: Error) => error,
    )) as Error;
    const lines = message.split("\n");
    expect(lines.slice(0, 4)).toEqual([
      "This does not hold: an old fence settles nothing.",
      expect.stringMatching(/^Why: Expected false, and got true\.$/),
      expect.stringMatching(/^Contract, settle: Ends a run inside of `tx`; returns `false`/),
      "Calls:",
    ]);
    expect(lines.slice(4)).toContainEqual(
      expect.stringMatching(/^ {2}store\.settle\(tx, \{"eventId":"e0",.*\}\) → true$/),
    );
  });
});

describe("the application's own writes", () => {
  type Tx = Parameters<Parameters<SqlPaymentStore["transaction"]>[0]>[0];

  /** Examines a SQLite store with a table of the application, into which `write` writes. */
  function examWith(write: (store: SqlPaymentStore, tx: Tx, key: string) => unknown) {
    return async (): Promise<{ check: string; outcome: string; reason?: string }[]> => {
      const results = new Map<string, () => Promise<void>>();
      testStore<Tx>({
        name: "it",
        async create() {
          const store = sqliteStore(nextFile(), { busyTimeoutMs: 300 });
          await store.migrate();
          await store.transaction((tx) => tx.query("create table orders (key text primary key)"));
          const has = (key: string) =>
            store.transaction(async (tx) => {
              const { rows } = await tx.query("select 1 from orders where key = ?", [key]);
              return rows.length > 0;
            });
          return { store, probe: { write: (tx, key) => write(store, tx, key), has } };
        },
        test: (name, run) => results.set(name.slice("it: ".length), run),
      });
      const of = [...results].filter(([name]) =>
        / write$|^a write of the application (commits|is|after|appears)/.test(name),
      );
      const ended = of.map(async ([check, run]) =>
        run().then(
          () => ({ check, outcome: "passed" }),
          (error: Error) => ({ check, outcome: "failed", reason: error.message }),
        ),
      );
      return Promise.all(ended);
    };
  }
  const insert = "insert into orders values (?)";
  const checks = [
    "a write of the application commits with its transaction",
    "a write of the application is rolled back where its transaction rejects",
    "a write of the application after the end of its transaction is not made",
    "a write of the application appears in one step with the changes of its transaction",
    "a run that meets a conflict rolls back the application's write",
  ];

  it("pass where they commit with the transaction", async () => {
    const results = await examWith((_, tx, key) => tx.query(insert, [key]))();
    expect(results).toEqual(checks.map((check) => ({ check, outcome: "passed" })));
  });

  it("fail where they are not made", async () => {
    const [first] = await examWith(() => {})();
    expect(first).toMatchObject({
      check: checks[0],
      outcome: "failed",
      reason: expect.stringContaining("30 writes of the application resolved, and 31 are missing."),
    });
  });

  it("are left out without a probe, with what is not known then", async () => {
    const results = await examineStore({ create: async () => new MemoryStore() });
    const reason = "It is not known whether your own writes commit, and are rolled back, with the kit's.";
    expect(results.filter(({ member }) => member === "probe")).toEqual(
      checks.map((check) => ({ check, member: "probe", outcome: "left out", reason })),
    );
  });
});

describe("a check without its probe", () => {
  const sentence = "a write of the application commits with its transaction";

  it("is reported as left out, with what is not known, to the runner's own skip or on the console", async () => {
    const run = examOf((store) => store).get(sentence)!;
    const skip = jest.fn();
    await run({ skip });
    const reason = "It is not known whether your own writes commit, and are rolled back, with the kit's.";
    expect(skip).toHaveBeenCalledWith(`The exam has no probe: ${reason}`);
    const warn = jest.spyOn(console, "warn").mockImplementation();
    await run();
    await run();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(`it: left out. The exam has no probe: ${reason}`);
    warn.mockRestore();
  });
});

describe("a store whose adapter fails one check", () => {
  it("is not examined further, also if a later check of the adapter passes", async () => {
    const adapter = memoryAdapter();
    const scan: typeof adapter.scan = async (range, tx) => (await adapter.scan(range, tx)).slice(1);
    const checks = new Map<string, () => Promise<void>>();
    testStore({
      name: "it",
      create: async () => storeOver({ ...adapter, scan }),
      test: (name, run) => checks.set(name.slice("it: ".length), run),
    });
    const run = (check: string) => checks.get(check)!();
    await expect(
      run("scan returns no more than `limit` records, and no fewer where there are more"),
    ).rejects.toThrow("This does not hold");
    await run("now returns the database's clock in milliseconds, anew in each call");
    const further = run("find returns undefined for a payment that is not stored");
    await expect(further).rejects.toThrow("Not examined, because checks of the adapter failed.");
  });
});

describe("a store that lacks a member", () => {
  it("fails its checks", async () => {
    const check = "due returns old payments that are still awaited, and no others";
    const lacking = examOf((store) => Object.assign(store, { due: undefined }));
    await expect(lacking.get(check)!()).rejects.toThrow("due is not a function");
  });
});

describe("the exam outside of a test runner", () => {
  it("returns how each check ended", async () => {
    const seen: number[] = [];
    const results = await examineStore({ create: async () => new MemoryStore() }, (_, count) =>
      seen.push(count),
    );
    expect(seen).toEqual(Array(results.length).fill(results.length));
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
  });

  it("stops after a store that cannot be made, and after a database that refuses the first call of each check", async () => {
    const results = await examineStore({ create: () => Promise.reject(new Error("no database")) });
    expect(results).toMatchObject([{ outcome: "failed", reason: "no database", calls: [] }]);
    const denied = (): Promise<never> => Promise.reject(new Error("Access denied"));
    const adapter = { durable: true, read: denied, scan: denied, write: denied, transaction: denied };
    for (const store of [storeOver(adapter), Object.assign(new MemoryStore(), { transaction: denied })]) {
      const refused = await examineStore({ create: async () => store });
      expect(refused).toMatchObject([
        { outcome: "failed", reason: expect.stringContaining("Access denied") },
      ]);
    }
  });

  it("waits for a slow store, and keeps the process alive no longer than it runs", async () => {
    // Only timers that the exam begins count, because other parts of the process have timers of their own.
    const exam = new AsyncLocalStorage<true>();
    const open = new Set<number>();
    const init = (id: number, type: string): unknown => exam.getStore() && type === "Timeout" && open.add(id);
    const hook = createHook({ init, destroy: (id) => open.delete(id) }).enable();
    let most = 0;
    const results = await exam.run(true, () =>
      examineStore({
        create: async () => {
          await new Promise((resolve) => setTimeout(resolve, 100));
          most = open.size;
          throw new Error("no database");
        },
      }),
    );
    expect(results).toMatchObject([{ outcome: "failed", reason: "no database" }]);
    // The end of a timer is told some iterations of the event loop later.
    for (let count = 0; open.size > 0 && count < 100; count++) await new Promise(setImmediate);
    hook.disable();
    expect(most).toBeGreaterThan(0);
    expect(open.size).toBe(0);
  });

  it.each(["unhandledRejection", "uncaughtException"] as const)(
    "leaves no listener for an %s",
    async (event) => {
      const before = process.listeners(event as "exit");
      await examineStore({ create: () => Promise.reject(new Error("no database")) });
      expect(process.listeners(event as "exit")).toEqual(before);
    },
  );

  it("blames a rejection that nothing awaited on one check only", async () => {
    let made = 0;
    const create = async () => {
      if (++made === 3) process.emit("unhandledRejection", new Error("lost"), Promise.resolve());
      if (made > 3) throw new Error("no database");
      return new MemoryStore();
    };
    const reasons = (await examineStore({ create })).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason?.includes("lost"))).toHaveLength(1);
    expect(reasons.filter((reason) => reason === "no database").length).toBeGreaterThan(50);
  });

  it("goes on after checks that fail in different ways", async () => {
    class Forgetful extends MemoryStore {
      override find = async () => undefined;
    }
    const results = await examineStore({ create: async () => new Forgetful() });
    expect(results.length).toBeGreaterThan(100);
  });
});

const all = [...defects, ...defectiveReaders];

describe.each<Defect>(all)("a store that $does", ({ spoil, caughtBy }) => {
  const checks = examOf(spoil);

  it.each(caughtBy)("fails: %s", async (sentence) => {
    const failure: unknown = await checks.get(sentence)!().then(
      () => "passed",
      (error: unknown) => error,
    );
    // A check must have failed or timed out, not the defective store itself.
    expect(failure).toHaveProperty("message", expect.stringContaining(`This does not hold: ${sentence}.`));
    expect((failure as Error).cause).not.toBeInstanceOf(TypeError);
  });
});

describe("the same store without a defect", () => {
  const checks = examOf((store) => store);
  const sentences = [...new Set(all.flatMap(({ caughtBy }) => caughtBy))];

  it.each(sentences)("passes: %s", async (sentence) => {
    await expect(checks.get(sentence)!()).resolves.toBeUndefined();
  });
});
