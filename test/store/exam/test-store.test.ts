import { MemoryStore } from "tillkit";
import { type SqlPaymentStore, sqliteStore } from "tillkit/sql";
import { examineStore, testStore } from "tillkit/testing";
import { temporaryFiles } from "../sql/support/temporary-files.js";
import { type Defect, defects } from "./defective-stores.js";

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

  it("leaves out the recommended members that a store lacks", () => {
    const checksWith = (has: boolean): string[] => {
      const names: string[] = [];
      testStore({
        create: () => Promise.reject(new Error("not needed")),
        test: (name) => names.push(name),
        capabilities: { parked: has, renew: has, due: has },
      });
      return names;
    };
    const all = checksWith(true);
    const required = checksWith(false);
    expect(all).toEqual(expect.arrayContaining(required));
    expect(all.filter((name) => !required.includes(name))).toEqual(
      expect.arrayContaining([
        expect.stringContaining("parked"),
        expect.stringContaining("renewed"),
        expect.stringContaining("due"),
      ]),
    );
  });

  it("fails a store whose calls reject", async () => {
    const checks = examOf((store) => ({ ...store, transaction: () => Promise.reject(new Error("down")) }));
    const [first] = [...checks.values()];
    await expect(first!()).rejects.toThrow("down");
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

describe("a member that a store lacks", () => {
  const lacking = (name: string) => (store: SqlPaymentStore) =>
    new Proxy(store, {
      get: (_, member) => {
        if (member === name) return undefined;
        const value: unknown = Reflect.get(store, member);
        return typeof value === "function" ? (value.bind(store) as unknown) : value;
      },
    });
  const sentence = "retire ends what is not done of one name, in steps, and its runs cannot commit";

  it("is reported as left out, with what is lost, to the runner's own skip or on the console", async () => {
    const run = examOf(lacking("retire")).get(sentence)!;
    const skip = jest.fn();
    await run({ skip });
    expect(skip).toHaveBeenCalledWith("The store has no retire: No `payments.retireHandler`.");
    const warn = jest.spyOn(console, "warn").mockImplementation();
    await run();
    await run();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(
      `it: left out. The store has no retire: No \`payments.retireHandler\`.`,
    );
    warn.mockRestore();
  });

  it("fails if work is lost or late without it, unless it is said", async () => {
    const check = "due returns old payments that are still awaited, and no others";
    await expect(examOf(lacking("due")).get(check)!()).rejects.toThrow(
      "The store has no due: No `payment.overdue`. Write it, or give capabilities: { due: false }.",
    );
  });

  it("is skipped with the runner's own skip if it is said", () => {
    const test = Object.assign(jest.fn(), { skip: jest.fn() });
    testStore({
      create: () => Promise.reject(new Error("not needed")),
      test,
      capabilities: { retire: false },
    });
    expect(test.skip).toHaveBeenCalledWith(`store: ${sentence}`, expect.any(Function));
    expect(test).not.toHaveBeenCalledWith(`store: ${sentence}`, expect.any(Function));
  });
});

describe("the exam outside of a test runner", () => {
  it("returns how each check ended, and what is lost without a member", async () => {
    const seen: number[] = [];
    const results = await examineStore({ create: async () => new MemoryStore() }, (_, count) =>
      seen.push(count),
    );
    expect(seen).toEqual(Array(results.length).fill(results.length));
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(results).toContainEqual({
      check: expect.stringMatching(/^migrate /),
      member: "migrate",
      outcome: "left out",
      reason: "You make the tables.",
    });
  });

  it("counts a store that cannot be made as failed", async () => {
    const [first] = await examineStore({ create: () => Promise.reject(new Error("no database")) });
    expect(first).toMatchObject({ outcome: "failed", reason: "no database", calls: [] });
  });
});

describe.each<Defect>(defects)("a store that $does", ({ spoil, caughtBy }) => {
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
  const sentences = [...new Set(defects.flatMap(({ caughtBy }) => caughtBy))];

  it.each(sentences)("passes: %s", async (sentence) => {
    await expect(checks.get(sentence)!()).resolves.toBeUndefined();
  });
});
