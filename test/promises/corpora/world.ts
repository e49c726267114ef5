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

/** The two schemes that differ in what they can refuse: over the body, and over fields of it. */
export const schemes = {
  hmac: hmacSignature({ secret }),
  fields: fieldsSignature({ secret, merchantId: "m-1" }),
};
export type SchemeName = keyof typeof schemes;
export const schemeNames = ["hmac", "fields"] as const;

/** A store in memory that also keeps a list of what was recorded, in the order of arrival. */
export class WatchedStore extends MemoryStore {
  readonly recorded: WebhookRecord[] = [];
  /** How many events there are for handlers. */
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

/** How the service's POST was answered. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/** One shop that receives webhooks, reached over HTTP through the real router. */
export interface Shop {
  payments: Payments<SignedField, MemoryTx>;
  /** Where its webhooks go. */
  url: string;
  store: WatchedStore;
  scheme: SigningScheme;
  /** What the handlers were told, in the order in which they ran. */
  told: TillkitEvent[];
  /** Makes pending payments known. */
  seed(this: void, payments: readonly Partial<Payment>[]): Promise<void>;
  /** Sends these exact bytes; `signature` is what the service would send, unless given. */
  post(this: void, body: Buffer, signature?: string): Promise<Answer>;
  /** What the record says about these exact bytes; `undefined` where there is no row. */
  rowOf(this: void, body: Buffer): WebhookRecord | undefined;
  /** Resolves when handlers were told of this many events. */
  hasTold(this: void, count: number): Promise<void>;
}

/** Connections are reused: these files send thousands of requests. */
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Opens both shops behind one server; call `closeWorld` at the end. */
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
    // Thousands of refusals come from one address here, and each answer matters.
    webhook: { limitBytes, failures: false },
    dispatch: { concurrency: 64 },
  });
  const told: TillkitEvent[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  payments.onAny((event) => {
    told.push(event);
    for (const { count, resolve } of waiting) if (told.length >= count) resolve();
  });
  const signatureOf = (body: Buffer): string => {
    try {
      return scheme.sign(body);
    } catch {
      // A body without readable fields has no signature at all; one of the right form is the most a sender can do.
      return "0".repeat(64);
    }
  };
  return {
    payments,
    url,
    store,
    scheme,
    told,
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
    hasTold: (count) =>
      new Promise((resolve) => {
        if (told.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

/** What is sent; whatever is left out is that of a plain GET of the address. */
interface Sending {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: Buffer;
}

/** One request with exactly this path and these bytes: `fetch` would mend both. */
export async function send(url: string, sending: Sending = {}): Promise<Answer> {
  try {
    return await sendOnce(url, sending);
  } catch (error) {
    // Node's server closed an idle connection just as it was picked up again: that says nothing about the kit.
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

/** Runs many at once, a handful at a time, and keeps their order. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  run: (item: Item, index: number) => Promise<Result>,
  atOnce = 32,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await run(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Whether a text has neither a control character nor half a character. Written apart from the kit's own rule. */
export function isPrintable(text: string): boolean {
  return Array.from(text, (character) => character.codePointAt(0)!).every(
    (code) => code >= 0x20 && !(code >= 0x7f && code <= 0x9f) && !(code >= 0xd800 && code <= 0xdfff),
  );
}
