import path from "node:path";
import { type BatchTx, type RecordChange } from "tillkit";
import { fileAdapter } from "../../../examples/stores/file.js";
import { type StoreModule } from "./store-module.js";

/** Makes the store of the file example. The ledger is among its records. */
export const create: StoreModule<BatchTx<RecordChange>>["create"] = ({ folder }, { storeOver }) => {
  const adapter = fileAdapter(path.join(folder, "payments.jsonl"));
  return {
    store: storeOver(adapter),
    write: (tx, row) =>
      tx.add({ key: `ledger/${row.event_id}/${row.attempt}`, version: 0, value: JSON.stringify(row) }),
    rows: async () => {
      const all = await adapter.scan({ from: "ledger/", to: "ledger0", limit: 1e6, reverse: false });
      return all.map(({ value }) => JSON.parse(value));
    },
  };
};
