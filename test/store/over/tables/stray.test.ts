import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { storeOver } from "tillkit";
import { fileAdapter } from "../../../../examples/stores/file.js";

it("stray leaves out a webhook that another sweep raised after the index was read", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-file-"));
  const adapter = fileAdapter(path.join(folder, "payments.jsonl"));
  const another = storeOver(adapter);
  const store = storeOver({
    ...adapter,
    async scan(range) {
      const found = await adapter.scan(range);
      await another.transaction((tx) => another.save(tx, { raised: ["receipt-1"] }));
      return found;
    },
  });
  const webhook = {
    receiptId: "receipt-1",
    eventKey: "key-1",
    rawBody: Buffer.from("{}"),
    headers: {},
    outcome: "unmatched",
    receivedAt: "2026-11-20T10:00:00.000Z",
    decidedAt: "2026-11-20T10:00:00.000Z",
  };
  await another.transaction((tx) => another.save(tx, { webhooks: [webhook as never] }));
  const page = { before: "2026-11-21T00:00:00.000Z", limit: 10 };
  expect(await another.transaction((tx) => another.stray(tx, page))).toHaveLength(1);
  expect(await store.transaction((tx) => store.stray(tx, page))).toEqual([]);
  await store.close();
  rmSync(folder, { recursive: true });
});
