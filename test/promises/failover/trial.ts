import { rmSync } from "node:fs";
import path from "node:path";
import { type Payments, type PaymentsOptions, type SignedField } from "tillkit";
import { type SqlStoreOptions, type SqlTx } from "tillkit/sql";
import { appOf, serve, testKit } from "../../support/kit.js";
import { signed } from "../../support/webhooks.js";
import { completionOf, leaseMs, ledgerOf, seedPayments } from "../faults/shop.js";
import { openPlace, openStore, type Place } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { type Post, type Sent, startLoad } from "./load.js";
import { type ComparedHealth, watchHealth } from "./watch-health.js";

/** A kit under load. */
interface Loaded {
  payments: Payments<SignedField, SqlTx>;
  post: Post;
  sent: Sent[];
  health: ReturnType<typeof watchHealth>;
  /** Why the store could not do something, the last time. */
  problem?: string;
}

/** The results of a trial. */
export interface Figures {
  webhooks: number;
  refused: number;
  /** The health of the kit with a spool, and of that without. */
  health: { spooling: ComparedHealth; plain: ComparedHealth };
}

/** How long the parts of a kit took to recover, in milliseconds. */
export interface Recovery {
  /** Until the first webhook was recorded that was sent afterwards. */
  recorded: number;
  /** Until the last webhook was sent that was refused. */
  refusedUntil: number;
  /** Until the first handler ran to its end. */
  handled: number;
  /** Until the health of both said `ok`, and nothing else afterwards. */
  healthy: number;
  /** The shortest time that the kit without a spool needed to record a webhook. */
  quickest: number;
}

/** Options other than the defaults of the kit. */
interface TrialOptions {
  store?: SqlStoreOptions;
  webhook?: Options["webhook"];
}

/** The options of a kit for which no webhook may be refused for lack of time, also on a busy machine. */
export const unhurried: TrialOptions = {
  store: { busyTimeoutMs: 30_000 },
  webhook: { recordTimeoutMs: 30_000 },
};

/** Two processes of one shop under load: one with a spool, and one without. */
export interface Trial {
  /** Resolves when this number of further orders was handled. */
  handles(more: number): Promise<void>;
  /** Resolves when webhooks are recorded again, handlers run, and the health of both says `ok`. */
  recovers(from: number): Promise<Recovery>;
  /** Resolves when the kit without a spool has refused this number of further webhooks. */
  refuses(more: number): Promise<void>;
  /**
   * Stops the load, sends again what was refused, and reads the database at `url`: each webhook that was answered 200 is recorded
   * once, and each order was handled once.
   */
  check(url: string): Promise<Figures>;
}

type Options = PaymentsOptions<SignedField, SqlTx>;

const maxOrders = 8000;
const limitMs = 100_000;

/**
 * Starts the kits with their defaults over the database at `url`, and sends them webhooks.
 *
 * @param seedUrl - Where the payments are stored before.
 * @param options - Further options of the stores and of the kits.
 */
export async function startTrial(url: string, seedUrl = url, options: TrialOptions = {}): Promise<Trial> {
  const place = await openPlace("postgres", seedUrl);
  await seedPayments(place, maxOrders);
  await place.store.close();
  /** The time of the last run of each order. */
  const runs = new Map<string, number>();
  const open = async (spool: { directory: string } | false): Promise<Loaded> => {
    const store = openStore({ ...place.address, url, options: options.store ?? {} });
    const { webhook } = options;
    const { payments, post } = await openKit(place, { store, spool, webhook }, runs);
    const kit: Loaded = { payments, post, sent: [], health: watchHealth(payments) };
    payments.on("store.unavailable", ({ during, error }) => {
      const { message, cause } = error as Error;
      kit.problem = `${during}, ${new Date().toISOString()}: ${message} ${String(cause)}`;
    });
    return kit;
  };
  const spooling = await open({ directory: path.join(place.folder, "spool") });
  const plain = await open(false);
  const kits = [spooling, plain];
  const load = startLoad(kits, maxOrders);
  const refusals = () => plain.sent.filter(({ status }) => status !== 200);
  return {
    async handles(more) {
      const wanted = runs.size + more;
      await until(async () => runs.size >= wanted, `${wanted} handled orders`, limitMs);
    },
    async refuses(more) {
      const wanted = refusals().length + more;
      await until(async () => refusals().length >= wanted, `${wanted} refused webhooks`, limitMs);
    },
    async recovers(from) {
      const kept = () => plain.sent.filter((one) => one.from > from && one.status === 200);
      const recorded = () => kept()[0]?.to;
      const handled = () => [...runs.values()].find((at) => at > from);
      const healthy = () => kits.map(({ health }) => health.okAfter(from));
      const times = () => [recorded(), handled(), ...healthy()];
      const isOver = async () => times().every((at) => at !== undefined);
      await until(isOver, "the recovery", limitMs).catch(async (error: unknown) => {
        const found = { times: times(), problems: kits.map(({ problem }) => problem) };
        throw new Error(`No recovery: ${JSON.stringify(found)}`, { cause: error });
      });
      const since = (...at: readonly (number | undefined)[]) =>
        Math.round(Math.max(from, ...at.map((one) => one ?? from)) - from);
      return {
        recorded: since(recorded()),
        refusedUntil: since(...refusals().map((one) => one.from)),
        handled: since(handled()),
        healthy: since(...healthy()),
        quickest: Math.round(Math.min(...kept().map((one) => one.to - one.from))),
      };
    },
    async check(server) {
      await load.stop();
      const figures = await checkOrders(place, server, { spooling, plain });
      for (const { health } of kits) await health.stop();
      rmSync(place.folder, { recursive: true, force: true });
      const [first, second] = kits.map(({ health, sent }) => health.compare(sent));
      return { ...figures, health: { spooling: first!, plain: second! } };
    },
  };
}

async function openKit(
  place: Place,
  options: Pick<Options, "store" | "spool" | "webhook">,
  runs: Map<string, number>,
): Promise<Pick<Loaded, "payments" | "post">> {
  const payments = testKit<SignedField, SqlTx>({ ...options, dispatch: { leaseMs } });
  const write = ledgerOf(place);
  payments.onPaymentCompleted(
    async (event, context) => {
      await write(event, context);
      runs.set(event.payment.clientId, performance.now());
    },
    { name: "books" },
  );
  await payments.start({ keepAlive: false });
  const address = await serve(appOf(payments));
  const post: Post = async (body) => {
    const { headers, rawBody } = signed(body);
    const answer = await fetch(`${address}/payments/webhook`, { method: "POST", headers, body: rawBody });
    await answer.arrayBuffer();
    return answer.status;
  };
  return { payments, post };
}

async function checkOrders(
  place: Place,
  url: string,
  { spooling, plain }: { spooling: Loaded; plain: Loaded },
): Promise<Pick<Figures, "webhooks" | "refused">> {
  const store = openStore({ ...place.address, url });
  const clientIds = async (table: "webhooks" | "ledger") => {
    const sql = `select client_id from ${place.address.prefix}${table}`;
    const { rows } = await store.transaction((tx) => tx.query<{ client_id: string }>(sql));
    return rows.map((row) => row.client_id).toSorted();
  };
  const sent = [...spooling.sent, ...plain.sent];
  const refused = sent.filter(({ status }) => status !== 200);
  const isDrained = async () => (await spooling.payments.health()).spool?.records === 0;
  await until(isDrained, "an empty spool", limitMs);
  const recorded = new Set(await clientIds("webhooks"));
  const lost = sent.filter(({ n, status }) => status === 200 && !recorded.has(`c-${n}`));
  expect(lost).toEqual([]);
  // The kit with a spool keeps everything.
  expect(spooling.sent.filter(({ status }) => status !== 200)).toEqual([]);

  for (const { n } of refused)
    await until(async () => (await plain.post(completionOf(n))) === 200, `webhook ${n}`, limitMs);
  const all = sent.map(({ n }) => `c-${n}`).toSorted();
  await until(async () => (await clientIds("ledger")).length >= all.length, "all orders handled", limitMs);
  expect(await clientIds("webhooks")).toEqual(all);
  expect(await clientIds("ledger")).toEqual(all);
  await store.close();
  return { webhooks: sent.length, refused: refused.length };
}

/** Prints the figures of a trial. Not with jest's console, which would add a stack trace. */
export function print(name: string, { webhooks, refused, health }: Figures, recovery?: Recovery): void {
  const times = recovery && Object.entries(recovery).map(([what, ms]) => `${what} ${ms} ms`);
  const said = Object.entries(health).map(
    ([kit, { answers, down, fineWhileRefusing, downWhileKeeping }]) =>
      `health ${kit}: ${answers} answers, ${down} down, ${fineWhileRefusing} fine while refusing, ${downWhileKeeping} down while keeping`,
  );
  const parts = [`${webhooks} webhooks, ${refused} refused`, times?.join(", "), ...said];
  process.stderr.write(`${name}: ${parts.filter(Boolean).join("; ")}.\n`);
}
