import { storeOver, type StoredRecord, type TransactionAdapter } from "tillkit";
import { type StoreProbe } from "tillkit/testing";
import { runCheck } from "./checks.js";
import { memoryAdapter, type MemoryTransaction } from "./memory-adapter.js";

type Adapter = TransactionAdapter<MemoryTransaction>;

const closed = new Error("Connection closed");

/** Runs one check of the exam on stores over an adapter with this transaction, and with this probe. */
async function examine(
  check: string,
  transactionOf: (adapter: Adapter) => Adapter["transaction"],
  probe: StoreProbe<MemoryTransaction>,
): Promise<void> {
  const create = async () => {
    const adapter = memoryAdapter(new Map<string, StoredRecord>());
    return storeOver({ ...adapter, transaction: transactionOf(adapter) }, { busyTimeoutMs: 500 });
  };
  await runCheck(check, { create, probe });
}

/** Returns a transaction whose commit fails if its connection is in `lost`. */
function committing(lost: WeakSet<object>): (adapter: Adapter) => Adapter["transaction"] {
  return (adapter) => (run) =>
    adapter.transaction(async (tx) => {
      const result = await run(tx);
      if (lost.has(tx)) throw closed;
      return result;
    });
}

/** Returns a transaction that resolves with the result of `run`, although its commit failed. */
function swallowing(lost: WeakSet<object>): (adapter: Adapter) => Adapter["transaction"] {
  return (adapter) =>
    async <T>(run: (tx: MemoryTransaction) => Promise<T>) => {
      let result: T;
      const noted = async (tx: MemoryTransaction): Promise<T> => (result = await run(tx));
      await committing(lost)(adapter)(noted).catch((error: unknown) => {
        if (error !== closed) throw error;
      });
      return result!;
    };
}

describe("the exam of an adapter whose connection is lost", () => {
  it("fails one that uses the connection again, and names it", async () => {
    let isLost = false;
    const lost = () => Promise.reject(closed);
    const examined = examine(
      "a transaction whose connection is lost rejects, leaves nothing, and others go on",
      (adapter) => (run) => (isLost ? lost() : adapter.transaction(run)),
      { write: () => isLost && lost(), has: async () => false, cut: () => (isLost = true) },
    );
    await expect(examined).rejects.toThrow(
      /The next transaction failed: .*Connection closed\. Do not give a lost connection back to the pool\./,
    );
  });

  const beforeCommit =
    "a transaction whose connection is lost before its commit resolves only if its writes are there";
  const probeOf = (lost: WeakSet<object>): StoreProbe<MemoryTransaction> => ({
    write: () => {},
    has: async () => false,
    cut: (tx) => lost.add(tx),
  });

  it("passes one that rejects where the connection is lost before the commit", async () => {
    const lost = new WeakSet<object>();
    await expect(examine(beforeCommit, committing(lost), probeOf(lost))).resolves.toBeUndefined();
  });

  it("fails one that resolves although the connection was lost before the commit", async () => {
    const lost = new WeakSet<object>();
    await expect(examine(beforeCommit, swallowing(lost), probeOf(lost))).rejects.toThrow(
      "The transaction resolved although its connection was lost before the commit, and its write is missing",
    );
  });
});
