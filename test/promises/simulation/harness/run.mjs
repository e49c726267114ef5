import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { randomFrom } from "../../crash/harness/random.mjs";
import { Progress } from "../../crash/harness/progress.mjs";
import { claimSome, listAll } from "./attention.mjs";
import { check } from "./check.mjs";
import { isAccepted, lostShare, makeMess, mess, others, planOrders } from "./plan.mjs";
import { start, ServiceModel } from "./service-model.mjs";

const prefix = "sim-";
const hour = 3_600_000;
const secret = "whsec_simulation_of_a_shop_and_its_service";

/** Plays one simulation with the compiled kit in `folder`. */
export async function run(options, folder) {
  const { payments: count, seed, quiet } = options;
  const load = createRequire(path.join(folder, "index.js"));
  const { createPayments, hmacSignature } = load("./index.js");
  const { sqliteStore } = load("./store/sql/index.js");
  const directory = mkdtempSync(path.join(tmpdir(), "tillkit-simulation-"));
  const random = randomFrom(seed);
  const service = new ServiceModel();
  const scheme = hmacSignature({ secret });
  let now = start;
  const file = path.join(directory, "shop.db");
  const world = { file, service, random, scheme, quiet, advance: (ms) => (now += ms) };
  world.open = async () => {
    world.store = sqliteStore(file);
    world.payments = createPayments({
      publicUrl: "https://shop.example/payments",
      service: { baseUrl: "https://pay.example", accessToken: "a-token", fetch: service.fetch },
      signature: scheme,
      store: world.store,
      spool: false,
      dispatch: false,
      logger: false,
      clientIdPrefix: prefix,
      lookup: options["without-lookup"] ? false : { perSecond: 10_000 },
      now: () => new Date(now),
    });
    // The events about what needs a person are raised where a handler has the name of one.
    world.payments.on("attention.opened", () => {});
    await world.payments.start({ keepAlive: false });
  };
  const from = performance.now();
  try {
    await world.open();
    const orders = planOrders(random, count);
    await createAll(world, orders);
    world.claimed = await claimSome(world, orders);
    const { sent, strangers, foreign, legacy } = happen(world, orders);
    const { arriving, counts } = makeMess(random, sent);
    const forged = forge(world, arriving);
    const { kept, lost } = chooseLost(world, arriving);
    const received = await deliver(world, kept, forged);
    await world.payments.backup(`${file}.copy`);
    await deliver(world, lost, []);
    await goBack(world);
    await adoptLegacy(world, legacy);
    const rounds = [await timePasses(world, 1), await timePasses(world, 2)];
    world.mismatched = await settleMismatches(world);
    await settleWithheld(world, orders);
    rounds.push(await timePasses(world, 30));
    const verdict = await check({ ...world, orders, strangers, foreign, legacy, arriving, forged, received });
    const seconds = Math.round((performance.now() - from) / 100) / 10;
    const webhooks = {
      ...counts,
      arrived: arriving.length,
      forged: forged.length,
      lost: lost.length,
      outcomes: received.outcomes,
    };
    return {
      seed,
      orders: count,
      seconds,
      webhooks,
      lookups: { asked: service.questions, rounds },
      ...verdict,
    };
  } finally {
    await world.payments?.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Does the work for each item in the order of the list, with a maximum number of concurrent calls. */
async function each(list, maxConcurrent, work) {
  let next = 0;
  const worker = async () => {
    while (next < list.length) await work(list[next++]);
  };
  await Promise.all(Array.from({ length: maxConcurrent }, worker));
}

const clientIdOf = ({ n }, attempt) => `${prefix}${n}-${attempt}`;

/** Creates the payments of the orders through the kit, with a second attempt after a cancel return. */
async function createAll({ payments, service, quiet }, orders) {
  const progress = new Progress({ total: orders.length, unit: "orders created", quiet, describe: () => "" });
  await each(orders, 64, async (order) => {
    const { reference, value, kind } = order;
    const total = { value, currency: "KMF" };
    const earlier = { value: String(Number(value) - 1), currency: "KMF" };
    const isEarlier = kind === "earlier amount";
    await payments.create({ reference, total: isEarlier ? earlier : total, clientId: clientIdOf(order, 1) });
    if (isEarlier) await payments.create({ reference, total, clientId: clientIdOf(order, 2) });
    if (kind === "paid twice") {
      const token = service.returnTokens.get(clientIdOf(order, 1));
      await payments.handleReturn({ kind: "cancel", token, visit: true });
      await payments.create({ reference, total, clientId: clientIdOf(order, 2) });
    }
    progress.tick();
  });
}

/** Plays the events at the service. Returns the webhooks that it sends. */
function happen({ service, random, scheme }, orders) {
  const sent = [];
  const byClientId = new Map([...service.payments.values()].map((payment) => [payment.clientId, payment]));
  const send = (payment, status) => {
    payment.status = status;
    const data = service.show(payment, status);
    const timestamp = new Date(start).toISOString();
    const body = { topic: `payment.${status}`, timestamp, type: "payment", data };
    const rawBody = Buffer.from(JSON.stringify(body));
    const headers = { "content-type": "application/json", "service-signature": scheme.sign(rawBody) };
    sent.push({ clientId: payment.clientId, status, rawBody, headers });
  };
  for (const order of orders) {
    const first = byClientId.get(clientIdOf(order, 1));
    if (order.kind === "changed amount") first.value = String(Number(order.value) + 1);
    for (const status of order.statuses) send(first, status);
    if (order.kind === "paid twice") {
      const second = byClientId.get(clientIdOf(order, 2));
      for (const status of order.statuses) send(second, status);
    }
  }
  const elsewhere = (share, name) =>
    orders.flatMap(({ n }) => {
      if (!random.chance(share)) return [];
      const payment = service.add({ clientId: name(n), value: "500" });
      send(payment, "completed");
      return [payment];
    });
  return {
    sent,
    // Payments that nobody created here, payments of the merchant's other shop, payments that older code created.
    strangers: elsewhere(others.stranger, (n) => `${prefix}stranger-${n}`),
    foreign: elsewhere(others.foreign, (n) => `other-shop-${n}`),
    legacy: elsewhere(others.legacy, (n) => `legacy-${n}`),
  };
}

/** Returns copies of webhooks with another amount and the old signature. */
function forge({ random }, arriving) {
  return arriving
    .filter(() => random.chance(mess.forged))
    .map(({ rawBody, headers }) => {
      const text = rawBody.toString().replace(/"value":"\d+"/, '"value":"1"');
      return { rawBody: Buffer.from(text), headers };
    });
}

/** Delivers all webhooks through `receiveWebhook`. */
async function deliver({ payments, random, quiet }, arriving, forged) {
  const outcomes = {};
  let refused = 0;
  const all = [...arriving];
  for (const webhook of forged) all.splice(random.below(all.length + 1), 0, webhook);
  const describe = () => `${refused} refused`;
  const progress = new Progress({ total: all.length, unit: "webhooks", quiet, describe });
  await each(all, 200, async ({ rawBody, headers }) => {
    try {
      const { outcome } = await payments.receiveWebhook({ rawBody, headers });
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    } catch (error) {
      if (error.code !== "signature_mismatch") throw error;
      refused += 1;
    }
    progress.tick();
  });
  return { outcomes, refused };
}

/**
 * Chooses the webhooks that a restored backup does not have. They are about orders: nobody can ask about a payment that the shop did not
 * create.
 */
function chooseLost({ random }, arriving) {
  const [kept, lost] = [[], []];
  for (const webhook of arriving) {
    const isLost = /^sim-\d/.test(webhook.clientId) && random.chance(lostShare);
    (isLost ? lost : kept).push(webhook);
  }
  return { kept, lost };
}

/** Replaces the database by its backup, as after a crash of its disk. Only lookups give back what was recorded since. */
async function goBack(world) {
  await world.payments.close();
  for (const ending of ["", "-wal", "-shm"]) rmSync(world.file + ending, { force: true });
  renameSync(`${world.file}.copy`, world.file);
  await world.open();
}

/** Adopts the payments of older code within the grace period. */
async function adoptLegacy({ payments }, legacy) {
  for (const { id, clientId, value } of legacy) {
    const total = { value, currency: "KMF" };
    await payments.adopt({ clientId, serviceId: id, reference: `order-of-${clientId}`, total });
  }
}

/** Sweeps after so many hours: payments without a webhook are looked up, and raised where they are overdue. */
async function timePasses({ payments, advance, quiet }, hours) {
  advance(hours * hour);
  if (!quiet) process.stderr.write(`${hours} h later: `);
  const round = { hours, lookups: 0, unmatched: 0, overdue: 0 };
  for (;;) {
    const swept = await payments.sweep();
    for (const name of ["lookups", "unmatched", "overdue"]) round[name] += swept[name];
    if (swept.lookups + swept.unmatched + swept.overdue === 0) break;
  }
  if (!quiet) process.stderr.write(`${round.lookups} looked up, ${round.unmatched + round.overdue} raised\n`);
  return round;
}

/** Accepts every other amount with the command that its entry names, like a person. Returns the subjects of the entries. */
async function settleMismatches({ payments }) {
  const entries = await listAll(payments, "mismatched");
  const why = { reason: "the customer paid a franc more", by: "the simulation" };
  for (const { next } of entries)
    await payments.resolve({
      action: "accept",
      receiptId: /accept --receipt-id (\S+)/.exec(next)[1],
      ...why,
    });
  return entries.map(({ subject }) => subject);
}

/** Accepts or refunds each payment that was withheld from its order, like a person. */
async function settleWithheld({ payments }, orders) {
  const byReference = new Map(orders.map((order) => [order.reference, order]));
  let cursor;
  do {
    const page = await payments.list({ state: "completed", limit: 500, cursor });
    for (const { clientId, reference, withheld } of page.payments) {
      if (withheld !== "unsettled") continue;
      const action = isAccepted(byReference.get(reference)) ? "accept" : "refunded";
      await payments.resolve({ action, clientId, reason: "the basket grew", by: "the simulation" });
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}
