import { Agent, request } from "node:http";
import express from "express";
import {
  fieldsSignature,
  hmacSignature,
  MemoryStore,
  paymentRouter,
  type Changes,
  type MemoryTx,
  type Payment,
  type Payments,
  type SignedField,
  type SigningScheme,
  type TillkitEvent,
  type WebhookRecord,
} from "tillkit";
import { closeAll, secret, serve, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

/** Two schemes that can refuse different messages: over the body, and over its fields. */
export const schemes = {
  hmac: hmacSignature({ secret }),
  fields: fieldsSignature({ secret, merchantId: "m-1" }),
};
export type SchemeName = keyof typeof schemes;
export const schemeNames = ["hmac", "fields"] as const;

/** A store in memory that also keeps a list of recorded webhooks, in the order of arrival. */
export class WatchedStore extends MemoryStore {
  readonly recorded: WebhookRecord[] = [];
  /** The number of recorded events. */
  events = 0;

  override async save(tx: MemoryTx, changes: Changes) {
    const saved = await super.save(tx, changes);
    tx.onCommit(() => {
      this.recorded.push(...(changes.webhooks ?? []));
      this.events += changes.events?.length ?? 0;
    });
    return saved;
  }
}

/** The answer to a POST of the service. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/** One shop that receives webhooks over HTTP, through the real router. */
export interface Shop {
  payments: Payments<SignedField, MemoryTx>;
  /** The address for its webhooks. */
  url: string;
  store: WatchedStore;
  scheme: SigningScheme;
  /** The events that the handlers got, in their order. */
  handled: TillkitEvent[];
  /** Stores pending payments. */
  seed(this: void, payments: readonly Partial<Payment>[]): Promise<void>;
  /** Sends these bytes. The default `signature` is the service's. */
  post(this: void, body: Buffer, signature?: string): Promise<Answer>;
  /** Returns the row of these bytes; `undefined` where there is none. */
  rowOf(this: void, body: Buffer): WebhookRecord | undefined;
  /** Resolves when the handlers got this many events. */
  whenHandled(this: void, count: number): Promise<void>;
}

/** Connections are reused: these files send thousands of requests. */
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Opens both shops behind one server. Call `closeWorld` at the end. */
export async function openWorld({ limitBytes = 512 * 1024 } = {}): Promise<Record<SchemeName, Shop>> {
  const app = express();
  const shops = {} as Record<SchemeName, Shop>;
  const address = await serve(app);
  for (const name of schemeNames) {
    const shop = openShop(schemes[name], `${address}/${name}/webhook`, limitBytes);
    app.use(`/${name}`, paymentRouter(shop.payments));
    shops[name] = shop;
  }
  return shops;
}

export async function closeWorld(): Promise<void> {
  await closeAll();
  agent.destroy();
}

function openShop(scheme: SigningScheme, url: string, limitBytes: number): Shop {
  const store = new WatchedStore();
  const payments = testKit<SignedField, MemoryTx>({
    store,
    signature: scheme,
    // Thousands of refusals come from one address here, and every answer is checked.
    webhook: { limitBytes, failures: false },
    dispatch: { concurrency: 64 },
    // On a slow machine, a sweep would mark payments as overdue.
    sweepMs: 24 * 60 * 60 * 1000,
  });
  const handled: TillkitEvent[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  payments.onAny((event) => {
    handled.push(event);
    for (const { count, resolve } of waiting) if (handled.length >= count) resolve();
  });
  const signatureOf = (body: Buffer): string => {
    try {
      return scheme.sign(body);
    } catch {
      // A body without readable fields cannot be signed. A sender can only send a signature of the right form.
      return "0".repeat(64);
    }
  };
  return {
    payments,
    url,
    store,
    scheme,
    handled,
    async seed(given) {
      const created = given.map((payment) => pendingPayment(payment));
      await store.transaction((tx) => store.save(tx, { created }));
    },
    post: (body, signature = signatureOf(body)) =>
      send(url, {
        method: "POST",
        headers: { "content-type": "application/json", "service-signature": signature },
        body,
      }),
    rowOf: (body) => store.recorded.find(({ rawBody }) => rawBody.equals(body)),
    whenHandled: (count) =>
      new Promise((resolve) => {
        if (handled.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

/** A request. The defaults are those of a plain GET of the address. */
interface Sending {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: Buffer;
}

/** Sends one request with exactly this path and these bytes. `fetch` would correct both. */
export async function send(url: string, sending: Sending = {}): Promise<Answer> {
  try {
    return await sendOnce(url, sending);
  } catch (error) {
    // Node's server closed an idle connection while it was being reused. The kit is not involved.
    if (error instanceof Error && "wasIdle" in error && error.wasIdle) return sendOnce(url, sending);
    throw error;
  }
}

function sendOnce(url: string, { method = "GET", path, headers = {}, body }: Sending): Promise<Answer> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        hostname,
        port,
        method,
        path: path ?? pathname,
        headers: { ...headers, ...(body && { "content-length": String(body.length) }) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    sent.on("error", (error) => reject(Object.assign(error, { wasIdle: sent.reusedSocket })));
    sent.end(body);
  });
}

/** Runs a function for each item, with a limited number of concurrent calls. Returns the results in their order. */
export async function runConcurrently<Item, Result>(
  items: readonly Item[],
  run: (item: Item, index: number) => Promise<Result>,
  maxConcurrent = 32,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await run(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, worker));
  return results;
}

/** Returns whether a text has no control character and no half of a character. Does not use the kit's own rule. */
export function isPrintable(text: string): boolean {
  return Array.from(text, (character) => character.codePointAt(0)!).every(
    (code) => code >= 0x20 && !(code >= 0x7f && code <= 0x9f) && !(code >= 0xd800 && code <= 0xdfff),
  );
}
