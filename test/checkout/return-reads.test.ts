import { type Payment, MemoryStore } from "tillkit";
import { handleReturn, type ReturnKind } from "../../src/checkout/handle-return.js";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../support/webhooks.js";

afterEach(closeAll);

it("an answer to the page of an unpaid payment reads the store twice, and the claims only after two minutes", async () => {
  const { token, hash } = makeReturnToken("c-1");
  const store = new MemoryStore();
  const created: Payment[] = [pendingPayment({ returnKeyHash: hash })];
  await store.transaction((tx) => store.save(tx, { created }));
  const payments = testKit({ store });
  let now = () => new Date("2026-11-20T10:00:00.000Z");

  /** Returns what the page says, after the names of the reads. */
  async function readsOf(kind: ReturnKind): Promise<string[]> {
    const reads: string[] = [];
    const watched = new Proxy(store, {
      get(target, name) {
        reads.push(String(name));
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
    const view = await handleReturn({ store: watched, now }, { kind, token, visit: false });
    return [...new Set(reads), `says ${view!.state}`];
  }

  expect(await readsOf("success")).toEqual(["find", "webhooks", "says confirming"]);
  expect(await readsOf("cancel")).toEqual(["findMany", "webhooks", "says canceled"]);
  await handleReturn({ store, now }, { kind: "success", token, visit: true });
  now = () => new Date("2026-11-20T10:02:00.000Z");
  expect(await readsOf("success")).toEqual(["find", "webhooks", "notes", "says delayed"]);
  now = () => new Date("2026-11-20T10:00:00.000Z");
  await payments.receiveWebhook(signed(statusBody("submitted")));
  expect(await readsOf("success")).toEqual(["find", "webhooks", "says confirming"]);
  await payments.receiveWebhook(signed(completedBody({ total: { value: "1470", currency: "KMF" } })));
  expect(await readsOf("success")).toEqual(["find", "webhooks", "says mismatch"]);
  await payments.receiveWebhook(signed(completedBody()));
  expect(await readsOf("success")).toEqual(["find", "says paid"]);
  expect(await readsOf("cancel")).toEqual(["findMany", "says paid"]);
});
