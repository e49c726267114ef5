import { fieldsSignature } from "tillkit";
import { onEachDatabase } from "../promises/processes/databases.js";
import { closeAll, secret, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../support/webhooks.js";
import { shown, showingService } from "./lookup/service.js";
import { shopBench } from "./shop-bench.js";

const submittedAt = "2026-11-20T10:00:00.000Z";
const at = "2026-11-22T12:00:00.000Z";
const now = () => new Date(at);
const all = ["status", "captured", "submittedAt", "providerId", "source"];
const whole = {
  status: "completed",
  captured: true,
  submittedAt,
  providerId: "MVK-778",
  source: "MVK",
  at,
  verified: all,
};

onEachDatabase("what the service said", (kind) => {
  const bench = shopBench(kind, () => ({ now, dispatch: false }));
  const { shop, seed } = bench;

  it("stays with the payment, which is found by each of its ids, listed, and has it in its history", async () => {
    const payments = shop();
    const createdAt = "2026-11-20T09:58:59.000Z";
    await seed(
      pendingPayment({ service: { createdAt } }),
      pendingPayment({ clientId: "c-2", reference: "2", serviceId: "s-2" }),
    );
    await payments.receiveWebhook(signed(completedBody()));
    const payment = await payments.find("c-1");
    expect(payment?.reported).toEqual(whole);
    expect(payment?.service).toEqual({ createdAt, reportedAt: "2026-11-20T10:00:05.000Z" });
    expect(await payments.find({ serviceId: payment!.serviceId! })).toEqual(payment);
    expect(await payments.find({ providerId: "MVK-778" })).toEqual(payment);
    expect(await payments.find({ providerId: "mvk-778" })).toBeUndefined();
    expect(await payments.find({ serviceId: "s-3" })).toBeUndefined();
    expect((await payments.list({ providerId: "MVK-778" })).payments).toEqual([payment]);
    const lines = (await payments.history("c-1")).entries.map(({ text }) => text);
    const last = lines.find((text) => text.startsWith("the service said last: completed, captured true"));
    for (const said of ["providerId MVK-778", "source MVK", `submittedAt ${submittedAt}`])
      expect(last).toContain(`, ${said}`);
  });

  it("is not in the payment of an event that has the report itself", async () => {
    const payments = shop();
    await seed(pendingPayment());
    await payments.receiveWebhook(signed(completedBody()));
    const [row] = await bench.place.select<{ payload: string }>("select payload from @events");
    expect(JSON.parse(row!.payload)).toMatchObject({ verified: { providerId: "MVK-778" } });
    expect(JSON.parse(row!.payload)).not.toHaveProperty("payment.reported");
  });

  it("changes with what is new, also where it is not applied, and not with what is old or repeated", async () => {
    const payments = shop();
    await seed(pendingPayment());
    const reported = async () => (await payments.find("c-1"))?.reported;
    await payments.receiveWebhook(signed(statusBody("submitted", { providerId: "A" })));
    expect(await reported()).toMatchObject({ status: "submitted", captured: false, providerId: "A" });
    await payments.receiveWebhook(signed(statusBody("pending", { providerId: "B" })));
    expect(await reported()).toMatchObject({ providerId: "A" });
    const later = shop({ now: () => new Date("2026-11-22T13:00:00.000Z") });
    await later.receiveWebhook(
      signed(completedBody({ total: { value: "1470", currency: "KMF" }, providerId: "C" })),
    );
    expect(await payments.find("c-1")).toMatchObject({ state: "pending", reported: { status: "completed" } });
    expect(await payments.find({ providerId: "C" })).toMatchObject({ clientId: "c-1" });
    await later.receiveWebhook(signed(completedBody({ providerId: "D" })));
    expect(await payments.find("c-1")).toMatchObject({ state: "completed", reported: { providerId: "D" } });
    for (const again of [completedBody({ providerId: "E" }), statusBody("failed"), statusBody("refunded")])
      await later.receiveWebhook(signed(again));
    const last = shop({ now: () => new Date("2026-11-22T14:00:00.000Z") });
    await last.receiveWebhook(
      signed(completedBody({ total: { value: "1", currency: "KMF" }, providerId: "F" })),
    );
    expect(await reported()).toMatchObject({ status: "completed", providerId: "D" });
  });

  it("says which of it the signature covers, and keeps of the rest only what has the form of the interface", async () => {
    const scheme = fieldsSignature({ secret, merchantId: "m-1" });
    const payments = shop({ signature: scheme });
    await seed(pendingPayment(), pendingPayment({ clientId: "c-2", reference: "2", serviceId: "s-2" }));
    await payments.receiveWebhook(signed(completedBody(), scheme));
    const covered = all.filter((field) => (scheme.covers as readonly string[]).includes(field));
    expect(covered).not.toContain("providerId");
    expect((await payments.find("c-1"))?.reported).toEqual({ ...whole, verified: covered });
    const odd = {
      clientId: "c-2",
      id: "s-2",
      providerId: "x".repeat(257),
      source: { $gt: "" },
      captured: "true",
    };
    await payments.receiveWebhook(signed(completedBody(odd), scheme));
    const found = await payments.find("c-2");
    expect(found).toMatchObject({ state: "completed" });
    expect(Object.keys(found!.reported!).toSorted()).toEqual(["at", "status", "submittedAt", "verified"]);
    expect((await payments.history("c-1")).entries.map(({ text }) => text).join()).toContain(
      "providerId MVK-778 (not verified)",
    );
  });

  it("comes from lookups too, which prove all of it, with the service's own time of the creation", async () => {
    const service = await showingService();
    const payments = shop({
      service: { baseUrl: service.url, accessToken: "a-token" },
      signature: fieldsSignature({ secret, merchantId: "m-1" }),
      lookup: true,
    });
    await seed(pendingPayment({ nextLookupAt: "2026-11-20T10:00:00.000Z" }));
    const createdAt = "2026-11-20T09:58:59.123Z";
    const id = pendingPayment().serviceId!;
    service.payments.set(id, shown(id, { createdAt, providerId: "MVK-778", source: "MVK" }));
    await payments.sweep();
    const found = await payments.find("c-1");
    expect(found?.reported).toEqual(whole);
    expect(found?.service).toEqual({ createdAt });
    await service.close();
  });

  it("names no payment where several have the providerId", async () => {
    const payments = shop();
    await seed(pendingPayment(), pendingPayment({ clientId: "c-2", reference: "2", serviceId: "s-2" }));
    await payments.receiveWebhook(signed(completedBody()));
    await payments.receiveWebhook(signed(completedBody({ clientId: "c-2", id: "s-2" })));
    await expect(payments.find({ providerId: "MVK-778" })).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining("Several payments") as string,
    });
    expect((await payments.list({ providerId: "MVK-778" })).payments).toHaveLength(2);
  });
});

describe("a search for a payment", () => {
  afterEach(closeAll);

  it.each([
    ["no id", {}],
    ["two ids", { serviceId: "s", providerId: "p" }],
    ["an empty id", { providerId: "" }],
    ["an id that is no text", { serviceId: { $ne: "" } }],
    ["another name", { provider: "p" }],
  ])("is refused with %s", async (_, key) => {
    await expect(testKit().find(key as never)).rejects.toMatchObject({ code: "query_invalid" });
  });
});
