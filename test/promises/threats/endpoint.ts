import { connect } from "node:net";
import { Writable } from "node:stream";
import express5 from "express";
import express4 from "express4";
import { pino } from "pino";
import {
  MemoryStore,
  paymentRouter,
  type MemoryTx,
  type Payment,
  type Payments,
  type PaymentsOptions,
  type SignedField,
} from "tillkit";
import { serve, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

/** Both versions of Express that the router supports. */
export const versions = [
  ["Express 5", express5],
  ["Express 4", express4 as unknown as typeof express5],
] as const;

/** The changes that the kit wrote to its store. */
export type Changes = Parameters<MemoryStore["save"]>[1];

/** A kit with a real server. Everything that it logs and records is visible. */
export interface Endpoint {
  payments: Payments<SignedField, MemoryTx>;
  url: URL;
  /** The request log, one object per line. */
  log: Record<string, unknown>[];
  /** The text of the log. */
  logText: () => string;
  webhooks: () => NonNullable<Changes["webhooks"]>[number][];
  events: () => NonNullable<Changes["events"]>[number][];
  /** The number of counted copies. */
  copies: () => number;
  /** The clientIds with which the handler for completions was called. */
  fulfilled: string[];
  post(body: string | Buffer, headers?: Record<string, string>): Promise<Answer>;
  get(address: string, headers?: Record<string, string>, method?: string): Promise<Answer>;
}

/** The answer. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Returns a stored payment. */
export type Known = { [Key in keyof Payment]?: Payment[Key] | undefined };

/** Options of the kit, and of the application around it. */
export interface Around {
  /** Changes to the payment `c-1` of these tests; `undefined` removes a member. */
  payments?: readonly Known[];
  express?: typeof express5;
  /** Changes the application before the router is mounted. */
  before?: (app: ReturnType<typeof express5>) => unknown;
}

/** Opens an endpoint with the given payments. Default: the payment `c-1`. `closeAll` closes it. */
export async function openEndpoint(
  options: Partial<PaymentsOptions<SignedField, MemoryTx>> = {},
  { payments: known = [{}], express = express5, before }: Around = {},
): Promise<Endpoint> {
  const lines: string[] = [];
  const logger = pino(
    new Writable({ write: (line: Buffer, _, done) => (lines.push(line.toString()), done()) }),
  );
  const store = await storeWith(known);
  const saved = watchSaves(store);
  const payments = testKit<SignedField, MemoryTx>({ store, logger, dispatch: { pollMs: 5 }, ...options });
  const fulfilled: string[] = [];
  payments.onPaymentCompleted(({ payment }) => void fulfilled.push(payment.clientId));

  const app = express();
  before?.(app);
  app.use("/payments", paymentRouter(payments) as never);
  const url = new URL(await serve(app));
  return {
    payments,
    url,
    get log() {
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    logText: () => lines.join(""),
    ...saved,
    fulfilled,
    post: (body, headers = {}) =>
      ask(new URL("/payments/webhook", url), {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      }),
    // The text and not a URL, because a URL would normalise it.
    get: (address, headers = {}, method = "GET") => rawGet(url, address, headers, method),
  };
}

/** Returns a store with these payments. */
export async function storeWith(known: readonly Known[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: known.map(toPayment) }));
  return store;
}

/** Returns what the kit writes to the store from now on. */
export function watchSaves(store: MemoryStore): Pick<Endpoint, "webhooks" | "events" | "copies"> {
  const changes: Changes[] = [];
  const save = store.save.bind(store);
  store.save = (tx, change) => (changes.push(change), save(tx, change));
  return {
    webhooks: () => changes.flatMap(({ webhooks = [] }) => webhooks),
    events: () => changes.flatMap(({ events = [] }) => events),
    copies: () => changes.flatMap(({ copies = [] }) => copies).reduce((sum, { count }) => sum + count, 0),
  };
}

function toPayment(known: Known): Payment {
  const members = Object.entries({ ...pendingPayment(), ...known }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries(members) as unknown as Payment;
}

async function ask(url: URL, init: RequestInit): Promise<Answer> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
}

async function rawGet(
  url: URL,
  address: string,
  headers: Record<string, string>,
  method: string,
): Promise<Answer> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const answer = await converse(
    url,
    [`${method} ${address} HTTP/1.1`, `Host: ${url.host}`, ...lines, "Connection: close", "", ""].join(
      "\r\n",
    ),
  );
  return readAnswer(answer);
}

/** Returns the first answer in the received bytes of a connection. */
export function readAnswer(answer: string): Answer {
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(first.split(" ")[1]),
    headers: Object.fromEntries(headers),
    text: rest.join("\r\n\r\n"),
  };
}

/** Sends bytes that no client would send. Resolves with the complete answer, when the server has closed. */
export function converse(
  { hostname, port }: URL,
  bytes: string | Buffer,
  { end = false }: { end?: boolean } = {},
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", (data) => (answer += data));
    socket.on("end", () => socket.end());
    // A reset after the answer is a normal end.
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
    socket.write(bytes);
    if (end) socket.end();
  });
}

/** Returns the head of a webhook, for {@link converse}. */
export function headOf(lines: readonly string[]): string {
  return [
    "POST /payments/webhook HTTP/1.1",
    "Host: shop",
    "Content-Type: application/json",
    ...lines,
    "",
    "",
  ].join("\r\n");
}
