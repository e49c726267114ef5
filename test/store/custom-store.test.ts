import { randomUUID } from "node:crypto";
import {
  type Changes,
  type Claim,
  type ClaimOptions,
  type EventRecord,
  type HandlerKey,
  type Locked,
  type LockKeys,
  type Payment,
  type PaymentStore,
  type Registration,
  type Saved,
  type Settlement,
  type WebhookRecord,
} from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { testStore } from "tillkit/testing";
import { appOf, closeAll, serve, testKit } from "../support/kit.js";

/** Everything that the merchant stores, with the shop's own orders. */
interface Shop {
  paid: Map<string, number>;
  payments: Map<string, Payment>;
  webhooks: Map<string, WebhookRecord>;
  handlers: Map<string, HandlerKey>;
  events: Map<string, EventRecord>;
  dispatches: Map<string, Dispatch>;
  /** Set by a change that was refused: such a transaction must not commit, even if the error is swallowed. */
  refused?: Error;
}
type Dispatch = Omit<Claim, "fence"> & { fence: number; state: string; dueAt: number };

/**
 * A store as a merchant might write it, over plain objects. A transaction works on a copy of everything. At the commit the
 * copy replaces the original. One transaction runs at a time.
 */
class PlainStore implements PaymentStore<Shop> {
  readonly durable = false;
  shop: Shop = {
    paid: new Map(),
    payments: new Map(),
    webhooks: new Map(),
    handlers: new Map(),
    events: new Map(),
    dispatches: new Map(),
  };
  /** Resolves when the last transaction has ended. */
  #last: Promise<unknown> = Promise.resolve();

  transaction<T>(run: (tx: Shop) => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      const copy = structuredClone(this.shop);
      const value = await run(copy);
      if (copy.refused) throw copy.refused;
      this.shop = copy;
      return value;
    });
    this.#last = result.catch(() => {});
    return result;
  }

  async find(clientId: string): Promise<Payment | undefined> {
    return this.shop.payments.get(clientId);
  }

  async lock(
    tx: Shop,
    { clientIds = [], references = [], serviceIds = [], eventKeys = [] }: LockKeys,
  ): Promise<Locked> {
    const all = [...tx.payments.values()];
    const named = all.filter(
      ({ clientId, reference, serviceId }) =>
        clientIds.includes(clientId) ||
        references.includes(reference) ||
        serviceIds.includes(serviceId ?? ""),
    );
    const wanted = new Set(named.map(({ reference }) => reference));
    const payments = all.filter(({ reference }) => wanted.has(reference));
    payments.sort((a, b) => (a.clientId < b.clientId ? -1 : 1));
    const known = new Set([...tx.webhooks.values()].map(({ eventKey }) => eventKey));
    return { payments: structuredClone(payments), eventKeys: eventKeys.filter((key) => known.has(key)) };
  }

  async save(
    tx: Shop,
    { created = [], updated = [], webhooks = [], events = [], rematched = [] }: Changes,
  ): Promise<Saved> {
    const takenClientIds: string[] = [];
    const takenEventKeys: string[] = [];
    for (const payment of updated) this.#put(tx, payment);
    for (const payment of created) {
      const isTaken = tx.payments.has(payment.clientId) || (payment.open && this.#openOf(tx, payment));
      if (isTaken) takenClientIds.push(payment.clientId);
      else this.#put(tx, payment);
    }
    for (const webhook of webhooks) {
      const isTaken = [...tx.webhooks.values()].some(
        ({ eventKey, receiptId }) => eventKey === webhook.eventKey || receiptId === webhook.receiptId,
      );
      if (isTaken) takenEventKeys.push(webhook.eventKey);
      else tx.webhooks.set(webhook.receiptId, { ...webhook, rawBody: Buffer.from(webhook.rawBody) });
    }
    for (const { receiptId, outcome } of rematched) tx.webhooks.get(receiptId)!.outcome = outcome;
    for (const event of events) this.#expand(tx, structuredClone(event));
    return { takenClientIds, takenEventKeys };
  }

  registerHandlers(handlers: readonly Registration[]): Promise<void> {
    return this.transaction(async (tx) => {
      for (const { since = "9999", ...key } of handlers) {
        const id = `${key.event} ${key.name}`;
        if (tx.handlers.has(id)) continue;
        tx.handlers.set(id, key);
        for (const event of tx.events.values()) if (event.recordedAt >= since) this.#dispatch(tx, event, key);
      }
    });
  }

  claim({ handlers, limit, leaseMs }: ClaimOptions) {
    return this.transaction(async (tx): Promise<Claim[]> => {
      const now = performance.now();
      const isOurs = ({ handler, event }: Dispatch) =>
        handlers.some(
          ({ name, event: wanted }) => name === handler && (wanted === "*" || wanted === event.type),
        );
      const isDue = ({ dueAt }: Dispatch) => dueAt <= now;
      const due = [...tx.dispatches.values()].filter(
        (one) => (one.state === "pending" || one.state === "leased") && isDue(one) && isOurs(one),
      );
      return due.slice(0, limit).map((one) => {
        Object.assign(one, {
          state: "leased",
          dueAt: now + leaseMs,
          fence: one.fence + 1,
          attempt: one.attempt + 1,
        });
        const { event, handler, fence, attempt, failures } = one;
        return structuredClone({ event, handler, fence, attempt, failures });
      });
    });
  }

  async settle(tx: Shop, { eventId, handler, fence, state, retryInMs = 0 }: Settlement): Promise<boolean> {
    const one = tx.dispatches.get(`${eventId} ${handler}`);
    if (!one || one.state !== "leased" || one.fence !== fence) return false;
    one.state = state === "failed" || state === "released" ? "pending" : state;
    one.dueAt = performance.now() + retryInMs;
    if (state === "failed") one.failures += 1;
    if (state === "released") one.attempt -= 1;
    return true;
  }

  #put(tx: Shop, payment: Payment): void {
    const { clientId, serviceId } = payment;
    const open = payment.open ? this.#openOf(tx, payment) : undefined;
    const bound = [...tx.payments.values()].find(
      (other) => serviceId !== undefined && other.serviceId === serviceId,
    );
    if ((open ?? bound ?? payment).clientId !== clientId || (bound && bound.clientId !== clientId)) {
      this.#refuse(tx);
    }
    tx.payments.set(clientId, structuredClone(payment));
  }

  #refuse(tx: Shop): never {
    tx.refused = Object.assign(new Error("a value that must be unique is taken"), { code: "store_conflict" });
    throw tx.refused;
  }

  #openOf(tx: Shop, { reference }: Payment): Payment | undefined {
    return [...tx.payments.values()].find((other) => other.open && other.reference === reference);
  }

  #expand(tx: Shop, event: EventRecord): void {
    if (tx.events.has(event.id)) this.#refuse(tx);
    tx.events.set(event.id, event);
    for (const key of tx.handlers.values()) this.#dispatch(tx, event, key);
  }

  #dispatch(tx: Shop, event: EventRecord, { event: wanted, name }: HandlerKey): void {
    const id = `${event.id} ${name}`;
    if ((wanted !== "*" && wanted !== event.type) || tx.dispatches.has(id)) return;
    const fresh = { event, handler: name, state: "pending", dueAt: 0, fence: 0, attempt: 0, failures: 0 };
    tx.dispatches.set(id, fresh);
  }
}

afterEach(closeAll);

describe("a store written by a merchant", () => {
  it("takes a payment through the whole flow: created, paid, recorded, and fulfilled once", async () => {
    const store = new PlainStore();
    const sandbox = createSandbox({ retryDelaysMs: [] });
    await sandbox.start();
    const payments = testKit<never, Shop>({
      store,
      service: { baseUrl: sandbox.url, accessToken: () => sandbox.accessToken() },
      signature: (await import("tillkit")).hmacSignature({ secret: sandbox.secret }) as never,
    });
    const fulfilled = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(({ payment }, { tx }) => {
        tx.paid.set(payment.reference, (tx.paid.get(payment.reference) ?? 0) + 1);
      });
      payments.onAny(() => resolve(), { name: "after" });
    });
    sandbox.registerWebhook(`${await serve(appOf(payments))}/payments/webhook`);

    const { clientId } = await payments.create({
      reference: `order-${randomUUID()}`,
      total: { value: "1475", currency: "KMF" },
    });
    const [delivery] = await sandbox.pay(clientId);
    await sandbox.deliverAgain(delivery!.id);
    await fulfilled;
    await payments.close();
    await sandbox.close();

    expect(sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200]);
    const { reference } = (await store.find(clientId))!;
    expect([...store.shop.paid]).toEqual([[reference, 1]]);
    expect([...store.shop.webhooks.values()].map(({ outcome }) => outcome)).toEqual(["applied"]);
  });

  it("is refused without registerHandlers, because its handlers would miss events", () => {
    const store = Object.assign(new PlainStore(), { registerHandlers: undefined as never });
    expect(() => testKit<never, Shop>({ store })).toThrow("must have the methods registerHandlers");
  });
});

testStore({
  name: "a merchant's store",
  test: it,
  create: async () => new PlainStore(),
  capabilities: {
    probe: false,
    parked: false,
    renew: false,
    due: false,
    stray: false,
    lookupDue: false,
    record: false,
    list: false,
    findMany: false,
    history: false,
    webhooks: false,
    dead: false,
    counts: false,
    prune: false,
    retire: false,
    migrate: false,
  },
});
