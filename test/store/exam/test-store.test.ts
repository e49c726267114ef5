import { type SqlPaymentStore, sqliteStore } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { temporaryFiles } from "../sql/support/temporary-files.js";
import { type Defect, defects } from "./defective-stores.js";

const nextFile = temporaryFiles();

/** Returns the exam's checks by name, for a store that `spoil` has changed. */
function examOf(spoil: (store: SqlPaymentStore) => SqlPaymentStore): Map<string, () => Promise<void>> {
  const checks = new Map<string, () => Promise<void>>();
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

describe.each<Defect>(defects)("a store that $does", ({ spoil, caughtBy }) => {
  const checks = examOf(spoil);

  it.each(caughtBy)("fails: %s", async (sentence) => {
    const failure: unknown = await checks.get(sentence)!().then(
      () => "passed",
      (error: unknown) => error,
    );
    // A check must have failed or timed out, not the defective store itself.
    expect(failure).toHaveProperty("message", expect.stringMatching(/.+/));
    expect(failure).not.toBeInstanceOf(TypeError);
  });
});

describe("the same store without a defect", () => {
  const checks = examOf((store) => store);
  const sentences = [...new Set(defects.flatMap(({ caughtBy }) => caughtBy))];

  it.each(sentences)("passes: %s", async (sentence) => {
    await expect(checks.get(sentence)!()).resolves.toBeUndefined();
  });
});
