import { randomUUID } from "node:crypto";
import { etcdAdapter } from "../../../examples/stores/etcd.js";
import { type StoreModule } from "./store-module.js";

const encode = (text: string): string => Buffer.from(text).toString("base64");

/**
 * Makes the store of the etcd example, on the nodes at TILLKIT_TEST_ETCD_URLS. Each row of the ledger is a key. On a machine that
 * is busy with other tests, a write can take longer than the second that the example allows: TILLKIT_TEST_ETCD_TIMEOUT_MS.
 */
export const create: StoreModule<{ add(operation: object): void }>["create"] = (
  { prefix },
  { storeOver },
) => {
  const nodes = process.env["TILLKIT_TEST_ETCD_URLS"]!.split(",");
  const [ledger, records] = [`ledger-${prefix}/`, `${prefix}/`];
  const timeoutMs = Number(process.env["TILLKIT_TEST_ETCD_TIMEOUT_MS"] ?? 1000);
  const ledgerAdapter = etcdAdapter(nodes, { prefix: ledger, timeoutMs });
  return {
    // A transaction takes some round trips between three nodes: 64 that change one payment take longer than 5 seconds.
    store: storeOver(etcdAdapter(nodes, { prefix: records, timeoutMs }), { busyTimeoutMs: 30_000 }),
    write(tx, row) {
      const [key, value] = [encode(ledger + randomUUID()), encode(JSON.stringify(row))];
      tx.add({ requestPut: { key, value } });
    },
    async rows() {
      const rows = await ledgerAdapter.scan({ from: "0", to: "g", limit: 100_000, reverse: false });
      return rows.map(({ value }) => JSON.parse(value));
    },
    async remove() {
      for (const start of [ledger, records]) {
        const body = JSON.stringify({ key: encode(start), range_end: encode(start.replace(/\/$/, "0")) });
        await fetch(`${nodes[0]}/v3/kv/deleterange`, { method: "POST", body });
      }
    },
  };
};
