import { storeOver, type StoredRecord, type TransactionAdapter } from "tillkit";
import { examineStore } from "tillkit/testing";
import { memoryAdapter, type MemoryTransaction } from "./memory-adapter.js";

type Adapter = TransactionAdapter<MemoryTransaction>;

/** Returns the checks that fail for stores over these adapters. Both stores of a check share their records. */
async function failures(spoil: (adapter: Adapter) => Adapter, isExpected?: () => boolean): Promise<string[]> {
  let records: Map<string, StoredRecord>;
  const open = () => storeOver(spoil(memoryAdapter(records, isExpected)));
  const results = await examineStore({
    create: async () => {
      records = new Map();
      return open();
    },
    reopen: async () => open(),
  });
  return results.filter(({ outcome }) => outcome !== "passed").map(({ check }) => check);
}

describe("the exam of a store over an adapter", () => {
  it("passes an adapter that does what it must", async () => {
    expect(await failures((adapter) => adapter)).toEqual([]);
  });

  it("fails an adapter that says true and writes nothing", async () => {
    expect(await failures((adapter) => ({ ...adapter, write: async () => true }))).toContain(
      "a transaction returns the result of its run, and others see its writes",
    );
  });

  it("fails an adapter that ignores versions", async () => {
    expect(
      await failures(
        (adapter) => adapter,
        () => true,
      ),
    ).toContain("concurrent changes of one payment lose nothing");
  });

  it("fails an adapter that compares keys without case", async () => {
    const caseless = (adapter: Adapter): Adapter => ({
      ...adapter,
      read: (keys, tx) =>
        adapter.read(
          keys.map((key) => key.toLowerCase()),
          tx,
        ),
      write: (changes, tx) =>
        adapter.write(
          changes.map((change) => ({ ...change, key: change.key.toLowerCase() })),
          tx,
        ),
      scan: (range, tx) =>
        adapter.scan({ ...range, from: range.from.toLowerCase(), to: range.to.toLowerCase() }, tx),
    });
    expect(await failures(caseless)).toContain(
      "ids that differ in case, accents, normal form or trailing space are different",
    );
  });
});
