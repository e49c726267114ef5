import { completedBody, signed } from "../../support/webhooks.js";
import { onEachStore } from "../attention/each-store.js";

const rule = ["mismatched", "unmatched"] as const;

onEachStore(
  "a webhook that was dismissed while it waited, and is a mismatch of an adopted payment since",
  (bench) => {
    it("needs a person again, keeps its bytes, and is dismissed again", async () => {
      const payments = bench.shop();
      const { receiptId } = await payments.receiveWebhook(signed(completedBody()));
      const dismiss = { action: "dismiss", receiptId, reason: "a test", by: "Amina" } as const;
      await payments.resolve(dismiss);
      await payments.adopt({ clientId: "c-1", reference: "o-1", total: { value: "2000", currency: "KMF" } });
      expect((await payments.attention({ rule })).entries).toMatchObject([{ id: "mismatched:c-1" }]);
      await payments.prune({ before: new Date("2999-01-01") });
      const accepted = await payments.resolve({ ...dismiss, action: "accept", dryRun: true });
      expect(accepted.payment).toMatchObject({ state: "completed", received: { value: "1475" } });
      expect(await payments.resolve(dismiss)).toMatchObject({ resolved: true });
      expect(await payments.resolve(dismiss)).toMatchObject({ resolved: false });
      expect((await payments.attention({ rule })).entries).toEqual([]);
    });
  },
);
