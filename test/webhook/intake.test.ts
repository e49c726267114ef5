import { MemoryStore } from "tillkit";
import { indispensableFields } from "../../src/model/signed-fields.js";
import { createIntake } from "../../src/webhook/intake.js";
import { readMessage } from "../../src/webhook/message/read-message.js";
import { type Arrival } from "../../src/webhook/recording/plan-group.js";
import { completedBody, pendingPayment } from "../support/webhooks.js";

describe("the intake", () => {
  it("tells which payments wait for a lookup: those whose completion only a lookup can confirm", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    let ids = 0;
    const intake = createIntake(
      {
        store,
        now: () => new Date("2026-11-20T10:00:06.000Z"),
        newId: () => `id-${++ids}`,
        policy: { clientIdPrefix: undefined, confirms: true, hasGrace: true },
        maxGroup: 100,
        ready: () => Promise.resolve(),
        announceEvents: () => undefined,
        notify: () => undefined,
      },
      { recordTimeoutMs: 5000, drainMs: 1000, spool: undefined },
    );
    const waiting: string[] = [];
    intake.onUnconfirmed((clientId) => waiting.push(clientId));
    const keep = (receiptId: string, data: object, covers: Arrival["covers"]) => {
      const rawBody = Buffer.from(JSON.stringify(completedBody({ ...data })));
      const message = readMessage({ rawBody, covers });
      return intake.keep({ receiptId, rawBody, covers, receivedAt: "2026-11-20T10:00:05.000Z", message });
    };
    const stranger = await keep("r-1", { clientId: "c-2", id: "s-2" }, "body");
    expect([stranger.outcome, waiting]).toEqual(["unmatched", []]);
    const unconfirmed = await keep("r-2", {}, indispensableFields);
    expect([unconfirmed.outcome, waiting]).toEqual(["unconfirmed", ["c-1"]]);
    await intake.close();
  });
});
