import { type ConfigurationError, hasCode, storeOver, type TransactionAdapter } from "tillkit";
import { memoryAdapter, type MemoryTransaction } from "../memory-adapter.js";
import { pendingPayment } from "../../../support/webhooks.js";

type Adapter = TransactionAdapter<MemoryTransaction>;

/** Returns what is wrong with an adapter, as `option message` lines. */
function problemsOf(adapter: unknown, options?: object): string[] {
  try {
    storeOver(adapter as Adapter, options);
    return [];
  } catch (error) {
    return (error as ConfigurationError).problems.map(({ option, message }) => `${option} ${message}`);
  }
}

/** Returns the error of a payment that is saved and then listed through an adapter with other members. */
function failureWith(members: Partial<Adapter>): Promise<unknown> {
  const store = storeOver({ ...memoryAdapter(), ...members });
  const working = async () => {
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    await store.find("c-1");
    return store.list({ newestFirst: true, limit: 10 });
  };
  return working().then(
    () => "no error",
    (error: unknown) => error,
  );
}

describe("storeOver", () => {
  const adapter = memoryAdapter();

  it("lists everything that an adapter lacks in one error", () => {
    expect(problemsOf({ durable: "yes", raed: () => {}, write: () => {}, maxChanges: 50, now: 1 })).toEqual([
      "adapter.raed is not known. Did you mean read?",
      "adapter.durable must be a boolean, and is the string yes.",
      "adapter.read must be a function, and is undefined.",
      "adapter.scan must be a function, and is undefined.",
      "adapter.maxChanges must be at least 60, and is 50.",
      "adapter.now must be a function, and is the number 1.",
    ]);
    expect(problemsOf(undefined)).toHaveLength(4);
  });

  it("takes an adapter with every member, without those that may be left out, and of a class with its own fields", () => {
    const nothing = async () => {};
    const optional = { maxChanges: 60, now: async () => 1, migrate: nothing, close: nothing };
    expect(problemsOf({ ...adapter, ...optional })).toEqual([]);
    expect(problemsOf({ ...adapter, close: undefined })).toEqual([]);
    class Own {
      readonly durable = true;
      readonly writer = "its own";
      read = adapter.read.bind(adapter);
      scan = adapter.scan.bind(adapter);
      write() {
        return Promise.resolve(true);
      }
    }
    expect(problemsOf(new Own())).toEqual([]);
  });

  it("checks its options", () => {
    expect(problemsOf(adapter, { busyTimeoutMs: "5 s", busyTimeout: 5 })).toEqual([
      "busyTimeout is not known. Did you mean busyTimeoutMs?",
      "busyTimeoutMs must be a number of milliseconds.",
    ]);
    for (const busyTimeoutMs of [-1, 0.5, NaN, null])
      expect(problemsOf(adapter, { busyTimeoutMs })).toEqual([
        "busyTimeoutMs must be a number of milliseconds.",
      ]);
    expect(problemsOf(adapter, { busyTimeoutMs: 0 })).toEqual([]);
  });
});

describe("what an adapter returns", () => {
  const record = { key: "orders/o-1", value: "[]", version: 1 };
  const found = (part: object) => ({ read: async () => [{ ...record, ...part }] as never });

  it.each<[string, Partial<Adapter>, string, RegExp]>([
    [
      "bytes as a key",
      found({ key: Buffer.from("k") }),
      "read returned a record whose key is a Buffer, and must be a string.",
      /String\(/,
    ],
    [
      "a parsed value",
      found({ value: {} }),
      "read returned a record whose value is an object, and must be a string.",
      /JSON\.stringify/,
    ],
    [
      "a version as text",
      found({ version: "7" }),
      "read returned a record whose version is the string 7, and must be a whole number from 1.",
      /Number\(/,
    ],
    [
      "a version as a BigInt",
      found({ version: 7n }),
      "read returned a record whose version is the bigint 7, and must be a whole number from 1.",
      /Number\(/,
    ],
    [
      "version 0",
      found({ version: 0 }),
      "read returned a record whose version is the number 0, and must be a whole number from 1.",
      /Number\(/,
    ],
    [
      "no array",
      { read: async () => undefined as never },
      "read returned undefined, and must return an array of records.",
      /tillkit exam/,
    ],
    [
      "null",
      { read: async () => null as never },
      "read returned null, and must return an array of records.",
      /tillkit exam/,
    ],
    [
      "a scan of nothing",
      { scan: async () => [null] as never },
      "scan returned a record whose key is undefined, and must be a string.",
      /String\(/,
    ],
    [
      "a write without an answer",
      { write: async () => undefined as never },
      "write returned undefined, and must return a boolean.",
      /tillkit exam/,
    ],
    [
      "a time as text",
      { now: async () => "1" as never },
      "now returned the string 1, and must return a number.",
      /tillkit exam/,
    ],
  ])("is refused where it is %s", async (_, members, message, fix) => {
    const error = await failureWith(members);
    expect(error).toMatchObject({ code: "adapter_defective", message: `The adapter's ${message}` });
    expect(error).toHaveProperty("fix", expect.stringMatching(fix));
  });

  it("shows no content of a record", async () => {
    const error = await failureWith(found({ value: { secret: "of a customer" }, version: "1" }));
    expect(JSON.stringify([String(error), error])).not.toContain("customer");
  });
});

describe("what an adapter throws", () => {
  it("is a defect of the adapter where it is an error of JavaScript, also thrown immediately", async () => {
    const error = await failureWith({
      read: () => {
        throw new TypeError("rows is not iterable");
      },
    });
    expect(error).toMatchObject({
      code: "adapter_defective",
      message: "The adapter's read threw a TypeError: rows is not iterable.",
    });
    const parse = async (text: string) => JSON.parse(text) as never;
    expect(hasCode(await failureWith({ scan: () => parse("[object Object]") }), "adapter_defective")).toBe(
      true,
    );
  });

  it("is an unavailable database otherwise, also where fetch fails with a TypeError", async () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    for (const error of [cause, new TypeError("fetch failed", { cause })])
      expect(await failureWith({ write: () => Promise.reject(error) })).toMatchObject({
        code: "store_unavailable",
        cause: error,
      });
  });
});
