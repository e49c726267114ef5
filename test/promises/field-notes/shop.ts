import express, { type Express } from "express";
import request from "supertest";
import {
  MemoryStore,
  paymentRouter,
  type EventType,
  type MemoryTx,
  type Payment,
  type Payments,
  type PaymentsOptions,
  type SignedField,
} from "tillkit";
import { testKit } from "../../support/kit.js";
import { signed } from "../../support/webhooks.js";

/** A small shop in memory, behind its real router. */
export interface Shop {
  payments: Payments<SignedField, MemoryTx>;
  store: MemoryStore;
  app: Express;
  /** Posts a signed webhook. Resolves with the status of the answer. */
  post: (body: unknown) => Promise<number>;
  seed: (...created: Payment[]) => Promise<unknown>;
  /** Returns the recorded events of a payment. */
  events: (clientId: string) => Promise<EventType[]>;
}

export function shop(
  options: Partial<PaymentsOptions<SignedField, MemoryTx>> = {},
  before: (app: Express) => void = () => undefined,
): Shop {
  const store = new MemoryStore();
  const payments = testKit<SignedField, MemoryTx>({
    store,
    dispatch: { pollMs: 10, firstDelayMs: 1, maxDelayMs: 2 },
    ...options,
  });
  const app = express();
  before(app);
  app.use("/payments", paymentRouter(payments));
  return {
    payments,
    store,
    app,
    async post(body) {
      const { headers, rawBody } = signed(body);
      const answer = await request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
      return answer.status;
    },
    seed: (...created) => store.transaction((tx) => store.save(tx, { created })),
    events: async (clientId) => (await store.history(clientId)).events.map(({ type }) => type),
  };
}
