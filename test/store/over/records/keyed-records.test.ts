import { storeOver } from "tillkit";
import { webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { memoryAdapter } from "../memory-adapter.js";

it("what is counted may have more entries than one page of an index", async () => {
  const store = storeOver(memoryAdapter());
  const webhooks = Array.from({ length: 1001 }, (_, n) =>
    webhook(`k-${n}`, { clientId: `c-${n}`, outcome: "unmatched" }),
  );
  for (let at = 0; at < webhooks.length; at += 10)
    await saved(store, { webhooks: webhooks.slice(at, at + 10) });
  expect(await store.counts()).toMatchObject({ parked: 1001 });
});
