import timers from "node:timers/promises";
import { MemoryStore, type MemoryTx, type Payment } from "tillkit";
import { openCheckout, type CheckoutParts } from "../../src/checkout/create-payment.js";
import { storeIntents } from "../../src/checkout/store-intents.js";
import { PaymentCreationError } from "../../src/service/service-errors.js";
import { type PaymentService } from "../../src/service/index.js";
import { onEachServer, openPlace } from "../promises/processes/databases.js";
import { closeAll, testKit } from "../support/kit.js";
import { pendingPayment } from "../support/webhooks.js";
import { willingService } from "../support/willing-service.js";
import { gate } from "../webhook/spool/hooked-file-system.js";

const created = Date.parse("2026-11-20T10:00:00.000Z");
const order = { reference: "order-7", total: { value: "1475", currency: "KMF" }, clientId: "c-7" };
const answer = { serviceId: "s-7", checkoutUrl: "https://pay.invalid/7", status: "pending" };

/** Returns the parts of a kit whose service does what the test says. */
function partsOf(answering: PaymentService["createPayment"]) {
  const store = new MemoryStore();
  const rematched: string[] = [];
  const asked: object[] = [];
  const parts: CheckoutParts<MemoryTx> = {
    store,
    service: {
      createPayment: (request) => {
        asked.push(request);
        return answering(request);
      },
    },
    now: () => new Date(created),
    newId: () => "an-id",
    ready: () => Promise.resolve(),
    maxGroup: 100,
    rematch: async (clientIds) => void rematched.push(...clientIds),
    options: {
      returnUrls: { success: "https://shop.example/success", cancel: "https://shop.example/cancel" },
      reuseForMs: 60_000,
      clientIdPrefix: undefined,
      firstLookupMs: 60_000,
      creationMs: 10_000,
    },
  };
  const change = (over: Partial<Payment>) =>
    store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: ["c-7"] });
      await store.save(tx, { updated: [{ ...payments[0]!, ...over }] });
    });
  return { parts, store, rematched, asked, change };
}

const failed = new PaymentCreationError("creation_refused", "No.", { certainty: "failed" });
const uncertain = new PaymentCreationError("creation_timeout", "No answer.", { certainty: "uncertain" });

describe("a creation that fails", () => {
  it("leaves the payment failed and without a lookup where the service certainly made none", async () => {
    const { parts, store } = partsOf(() => Promise.reject(failed));
    await expect(openCheckout(parts)(order)).rejects.toBe(failed);
    const payment = await store.find("c-7");
    expect(payment).toMatchObject({ state: "failed", open: false, failure: "creation_refused" });
    expect(payment).not.toHaveProperty("nextLookupAt");
  });

  it("leaves the payment uncertain, and to be looked up, where the service may have made it", async () => {
    const { parts, store } = partsOf(() => Promise.reject(uncertain));
    await expect(openCheckout(parts)(order)).rejects.toBe(uncertain);
    expect(await store.find("c-7")).toMatchObject({
      state: "uncertain",
      open: false,
      failure: "creation_timeout",
      nextLookupAt: new Date(created + 60_000).toISOString(),
    });
  });

  it("leaves the payment uncertain where the error does not say what is known", async () => {
    const { parts, store } = partsOf(() =>
      Promise.reject(Object.assign(new Error("?"), { code: "creation_failed" })),
    );
    await expect(openCheckout(parts)(order)).rejects.toThrow("?");
    expect(await store.find("c-7")).toMatchObject({ state: "uncertain", open: false });
  });

  it("changes no earlier attempt of the order", async () => {
    const { parts, store } = partsOf(() => Promise.reject(failed));
    const earlier = pendingPayment({
      reference: "order-7",
      state: "canceled",
      open: false,
      replacedBy: "c-2",
    });
    await store.transaction((tx) => store.save(tx, { created: [earlier] }));
    await expect(openCheckout(parts)(order)).rejects.toBe(failed);
    expect(await store.find("c-1")).toEqual(earlier);
    expect(await store.find("c-7")).toMatchObject({ state: "failed", open: false });
  });

  it.each(["completed", "canceled", "pending"] as const)(
    "keeps the state %s, which a webhook set meanwhile",
    async (state) => {
      const { parts, store, change } = partsOf(async () => {
        await change({ state, status: state });
        throw failed;
      });
      await expect(openCheckout(parts)(order)).rejects.toBe(failed);
      expect(await store.find("c-7")).toMatchObject({ state, status: state, open: false });
    },
  );
});

describe("an intent that the store takes after its caller was refused", () => {
  it("is not stored where it was not decided before, so that it replaces no newer attempt", async () => {
    const { parts, store } = partsOf(() => Promise.resolve(answer));
    const total = { value: "1500", currency: "KMF" };
    await openCheckout(parts)({ ...order, total, clientId: "c-8" });
    const intent = { request: order, clientId: "c-7", returnKeyHash: "hash", giveUpAt: -1 };
    expect(await storeIntents(parts, [intent])).toEqual([{ kind: "outdated" }]);
    expect(await store.find("c-7")).toBeUndefined();
    expect(await store.find("c-8")).toMatchObject({ state: "pending", open: true });
  });

  it("was decided before, is replaced by the next creation, and raised as overdue without one", async () => {
    const { parts, store } = partsOf(() => Promise.resolve(answer));
    const { serviceId: _, checkoutUrl: __, ...intent } = pendingPayment({ state: "creating" });
    const createdAt = new Date(created).toISOString();
    const intents = ["7", "8"].map((n): Payment => ({
      ...intent,
      clientId: `c-${n}`,
      reference: `order-${n}`,
      createdAt,
    }));
    await store.transaction((tx) => store.save(tx, { created: intents }));

    const later = { ...parts, now: () => new Date(created + parts.options.creationMs) };
    expect(await openCheckout(later)({ ...order, clientId: "c-9" })).toMatchObject({ reused: false });
    expect(await store.find("c-7")).toMatchObject({ state: "uncertain", open: false, replacedBy: "c-9" });

    const payments = testKit({ store, now: () => new Date(created + 3 * 24 * 3_600_000) });
    await payments.sweep();
    const { entries } = await payments.attention({ rule: "creation_uncertain" });
    expect(entries.map(({ id }) => id).toSorted()).toEqual([
      "creation_uncertain:c-7",
      "creation_uncertain:c-8",
    ]);
    await closeAll();
  });
});

describe("a creation", () => {
  it("touches neither the store nor the service before the kit is ready", async () => {
    const { parts, store, asked } = partsOf(() => Promise.resolve(answer));
    const transactions = jest.spyOn(store, "transaction");
    const { opened, open } = gate();
    parts.ready = () => opened;
    const creating = openCheckout(parts)(order);
    for (let iteration = 0; iteration < 5; iteration++) await new Promise(setImmediate);
    expect([transactions.mock.calls, asked]).toEqual([[], []]);
    open();
    expect(await creating).toMatchObject({ clientId: "c-7" });
  });

  it("is given up after the maximum time of a creation where the store hangs", async () => {
    const { parts, store, asked } = partsOf(() => Promise.resolve(answer));
    parts.options.creationMs = 50;
    jest.spyOn(store, "transaction").mockReturnValue(new Promise(() => {}));
    await expect(openCheckout(parts)(order)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("within 50 ms") as string,
    });
    expect(asked).toEqual([]);
  });
});

describe("a creation that another call has under way", () => {
  afterEach(() => jest.restoreAllMocks());

  it("is awaited for as long as a creation may take, with pauses that double up to a quarter of a second", async () => {
    const { parts, store, asked } = partsOf(() => Promise.resolve(answer));
    const { checkoutUrl: _, serviceId: __, ...other } = pendingPayment({ reference: "order-7" });
    const created = [{ ...other, state: "creating", createdAt: parts.now().toISOString() } as Payment];
    await store.transaction((tx) => store.save(tx, { created }));
    parts.options.creationMs = 300;
    let passed = 0;
    const pauses: number[] = [];
    jest.spyOn(performance, "now").mockImplementation(() => passed);
    const realTimeout = timers.setTimeout;
    jest.spyOn(timers, "setTimeout").mockImplementation((ms = 0, value, options) => {
      // Timers with options are of other parts, which the pauses of the creation must not wait for.
      if (options !== undefined) return realTimeout(ms, value, options);
      passed += ms;
      if (pauses.push(ms) > 10) throw new Error("It waits again and again.");
      return Promise.resolve(undefined as never);
    });
    await expect(openCheckout(parts)(order)).rejects.toMatchObject({ code: "creation_pending_elsewhere" });
    expect(pauses).toEqual([20, 40, 80, 160, 250]);
    expect(asked).toEqual([]);
    expect(await store.find("c-7")).toBeUndefined();
  });
});

describe("an answer of the service", () => {
  it.each([
    ["only what it must say", {}, {}, { verified: ["status"] }],
    [
      "all that it may say",
      { locale: "fr" },
      { captured: false, createdAt: "2026-11-20T09:59:59.000Z" },
      { captured: false, verified: ["status", "captured"] },
    ],
  ])("that has %s leaves a payment with that and no more", async (_, asking, answering, reported) => {
    const { parts, store, asked } = partsOf(() => Promise.resolve({ ...answer, ...answering }));
    await openCheckout(parts)({ ...order, ...asking });
    const { clientId, reference, total } = order;
    const { returnKeyHash, ...payment } = (await store.find("c-7"))!;
    const at = new Date(created).toISOString();
    const { createdAt } = answering as { createdAt?: string };
    expect(payment).toStrictEqual({
      clientId,
      reference,
      total,
      ...asking,
      ...answer,
      state: "pending",
      open: true,
      reported: { status: "pending", at, ...reported },
      ...(createdAt !== undefined && { service: { createdAt } }),
      nextLookupAt: new Date(created + 60_000).toISOString(),
      createdAt: at,
      updatedAt: at,
    });
    const token = expect.stringMatching(/^https:\/\/shop\.example\/(success|cancel)\/c-7~/) as unknown;
    expect(asked).toStrictEqual([{ clientId, total, successUrl: token, cancelUrl: token, ...asking }]);
    expect(returnKeyHash).toHaveLength(64);
  });

  it("is stored, and the webhooks that came before it are decided again", async () => {
    const { parts, store, rematched } = partsOf(() => Promise.resolve(answer));
    expect(await openCheckout(parts)(order)).toEqual({
      clientId: "c-7",
      checkoutUrl: answer.checkoutUrl,
      reused: false,
    });
    expect(await store.find("c-7")).toMatchObject({ ...answer, state: "pending", open: true });
    expect(rematched).toEqual(["c-7"]);
  });

  it("whose id belongs to another payment binds nothing, and leaves the payment uncertain", async () => {
    const { parts, store } = partsOf(() => Promise.resolve(answer));
    const other = pendingPayment({ clientId: "c-1", serviceId: "s-7" });
    await store.transaction((tx) => store.save(tx, { created: [other] }));
    await expect(openCheckout(parts)(order)).rejects.toMatchObject({
      name: "PaymentCreationError",
      code: "creation_response_invalid",
      certainty: "uncertain",
    });
    const payment = await store.find("c-7");
    expect(payment).toMatchObject({ state: "uncertain", open: false, failure: "creation_response_invalid" });
    expect(payment).not.toHaveProperty("serviceId");
    expect(await store.find("c-1")).toEqual(other);
  });

  it("that the store cannot take leaves the creation uncertain, with the store's error as the cause", async () => {
    const down = new Error("the disk is full");
    const { parts, store } = partsOf(() => {
      jest.spyOn(store, "transaction").mockRejectedValue(down);
      return Promise.resolve(answer);
    });
    await expect(openCheckout(parts)(order)).rejects.toMatchObject({
      name: "PaymentCreationError",
      code: "creation_unrecorded",
      certainty: "uncertain",
      cause: down,
      message: expect.stringContaining("the disk is full") as string,
    });
    expect(await store.find("c-7")).toMatchObject({ state: "creating" });
  });

  it("whose id is not the one that a webhook has bound replaces nothing", async () => {
    const { parts, store, change } = partsOf(async () => {
      await change({ serviceId: "s-of-webhook", state: "pending", status: "pending" });
      return answer;
    });
    await expect(openCheckout(parts)(order)).rejects.toMatchObject({ code: "creation_response_invalid" });
    expect(await store.find("c-7")).toMatchObject({
      serviceId: "s-of-webhook",
      state: "pending",
      open: false,
    });
  });

  it.each([
    ["completed", "pending"],
    ["failed", "pending"],
    ["submitted", "submitted"],
    ["constructor", "constructor"],
  ])("with the status %s stores the status %s: only a webhook ends a payment", async (status, stored) => {
    const { parts, store, change } = partsOf(async () => {
      await change({ status: "pending" });
      return { ...answer, status };
    });
    await openCheckout(parts)(order);
    expect(await store.find("c-7")).toMatchObject({ state: "pending", status: stored });
  });

  it("leaves what a webhook that overtook it reported, and adds the service's time of the creation", async () => {
    const reported = { status: "pending", providerId: "MVK-1", at: "2026-11-20T10:00:01.000Z", verified: [] };
    const reportedAt = "2026-11-20T10:00:00.500Z";
    const createdAt = "2026-11-20T09:59:59.000Z";
    const { parts, store, change } = partsOf(async () => {
      await change({ status: "pending", reported, service: { reportedAt } });
      return { ...answer, createdAt };
    });
    await openCheckout(parts)(order);
    expect(await store.find("c-7")).toMatchObject({ reported, service: { createdAt, reportedAt } });
  });

  it("does not take back what a webhook that overtook it has said", async () => {
    const { parts, store, change } = partsOf(async () => {
      await change({ state: "completed", status: "completed", open: false });
      return answer;
    });
    await openCheckout(parts)(order);
    expect(await store.find("c-7")).toMatchObject({
      state: "completed",
      status: "completed",
      open: false,
      serviceId: "s-7",
    });
  });

  it.each([
    ["makes it pending", undefined, { state: "pending", serviceId: "s-7" }],
    ["leaves it failed and without a lookup", failed, { state: "failed", nextLookupAt: undefined }],
    ["leaves it uncertain", uncertain, { state: "uncertain" }],
  ])("for an attempt that was replaced meanwhile %s", async (_, error, expected) => {
    const more = { ...order, clientId: "c-8", total: { value: "2000", currency: "KMF" } };
    const { parts, store } = partsOf(async ({ clientId }) => {
      if (clientId === "c-8") return { ...answer, serviceId: "s-8" };
      await openCheckout(parts)(more);
      expect(await store.find("c-7")).toMatchObject({ state: "uncertain" });
      if (error) throw error;
      return answer;
    });
    await openCheckout(parts)(order).catch(() => {});
    const payment = (await store.find("c-7"))!;
    expect({ nextLookupAt: undefined, ...payment }).toMatchObject({
      ...expected,
      open: false,
      replacedBy: "c-8",
    });
  });

  it("is returned also where the webhooks that came before it cannot be decided now", async () => {
    const { parts } = partsOf(() => Promise.resolve(answer));
    parts.rematch = () => Promise.reject(new Error("the store is away"));
    expect(await openCheckout(parts)(order)).toMatchObject({ clientId: "c-7" });
  });
});

describe("an answer whose id another payment gets at the same moment", () => {
  afterEach(closeAll);

  onEachServer("answers with one id", (kind) => {
    it("leaves the payment uncertain, and its order free for the next attempt", async () => {
      const place = await openPlace(kind);
      const { store } = place;
      const { sent, options: service } = willingService();
      const payments = testKit({ store, service });
      const save = store.save.bind(store);
      jest.spyOn(store, "record").mockImplementation(async (keys, decide) => {
        await store.transaction(async (tx) => store.save(tx, decide(await store.lock(tx, keys))));
        return true;
      });
      jest.spyOn(store, "save").mockImplementation(async (tx, changes) => {
        if (sent.length === 1 && changes.updated?.[0]?.serviceId === "s-1")
          await store.transaction((other) =>
            save(other, { created: [pendingPayment({ clientId: "c-1", serviceId: "s-1" })] }),
          );
        return save(tx, changes);
      });
      await expect(payments.create(order)).rejects.toMatchObject({
        name: "PaymentCreationError",
        code: "creation_response_invalid",
        certainty: "uncertain",
      });
      expect(await payments.find("c-7")).toMatchObject({ state: "uncertain", open: false });
      expect(await payments.create({ ...order, clientId: "c-8" })).toMatchObject({ clientId: "c-8" });
      jest.restoreAllMocks();
      await place.remove();
    });
  });
});
