import { EventEmitter, once } from "node:events";
import { onEachDatabase, openPlace, type Place } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { envelope } from "../../service/creation.js";
import { answerJson, localServer, type LocalServer } from "../../service/local-server.js";
import { closeAll } from "../../support/kit.js";
import { completedBody } from "../../support/webhooks.js";
import { openShop, seedPayments, type Shop } from "./shop.js";

const id = envelope().data.id;

onEachDatabase("webhooks that come early, or never", (kind) => {
  let place: Place;
  let service: LocalServer;
  let shop: Shop;
  /** What the service does between a creation and its answer. */
  let beforeAnswer: (clientId: string) => Promise<unknown>;
  let now: Date;

  beforeEach(async () => {
    now = new Date();
    beforeAnswer = () => Promise.resolve();
    place = await openPlace(kind);
    service = await localServer((response, { body }) => {
      const { clientId } = JSON.parse(body) as { clientId: string };
      void beforeAnswer(clientId).then(() => answerJson(response, 201, envelope()));
    });
    shop = await openShop(place, {
      service: { baseUrl: service.url, accessToken: "a-token" },
      now: () => now,
    });
  });
  afterEach(async () => {
    await closeAll();
    await service.close();
    await place.remove();
  });

  const order = { reference: "order-1", total: { value: "1475", currency: "KMF" } };
  const oneEffect = async (clientId: string) => {
    await until(async () => (await place.ledger()).length > 0, "an effect");
    expect(await shop.payments.find(clientId)).toMatchObject({ state: "completed", serviceId: id });
    expect(await place.ledger()).toMatchObject([{ client_id: clientId, attempt: 1 }]);
  };

  it("webhook before the creation response, or for a payment not yet known: matched before the service has answered", async () => {
    const statuses: number[] = [];
    beforeAnswer = async (clientId) => statuses.push(await shop.post(completedBody({ clientId, id })));
    const { clientId } = await shop.payments.create(order);
    expect(statuses).toEqual([200]);
    await oneEffect(clientId);
  });

  it("webhook before the creation response, or for a payment not yet known: parked, and matched when the payment is created", async () => {
    const clientId = "made-by-the-merchant";
    expect(await shop.post(completedBody({ clientId, id }))).toBe(200);
    expect(await place.store.counts()).toMatchObject({ parked: 1 });
    expect(await shop.payments.find(clientId)).toBeUndefined();

    await shop.payments.create({ ...order, clientId });
    await oneEffect(clientId);
    expect(await place.store.counts()).toMatchObject({ parked: 0 });
  });

  it("webhook never sent: the sweep raises payment.overdue, once", async () => {
    await seedPayments(place, 1);
    const raised: string[] = [];
    const events = new EventEmitter();
    shop.payments.on("payment.overdue", ({ payment }) => {
      raised.push(payment.clientId);
      events.emit("raised");
    });
    const { createdAt } = (await place.store.find("c-0"))!;
    const hoursLater = (hours: number) => new Date(Date.parse(createdAt) + hours * 3_600_000);
    await shop.payments.start({ keepAlive: false });

    now = hoursLater(23);
    expect(await shop.payments.sweep()).toMatchObject({ overdue: 0 });
    now = hoursLater(25);
    const told = once(events, "raised");
    expect(await shop.payments.sweep()).toMatchObject({ overdue: 1 });
    await told;
    expect(await shop.payments.sweep()).toMatchObject({ overdue: 0 });
    expect(raised).toEqual(["c-0"]);
    expect(await place.store.find("c-0")).toMatchObject({ state: "pending", overdueAt: now.toISOString() });
  });
});
