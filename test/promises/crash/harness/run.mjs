import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { check } from "./check.mjs";
import { planDatabase } from "./mode-database.mjs";
import { planDisk } from "./mode-disk.mjs";
import { planFlood } from "./mode-flood.mjs";
import { planKill } from "./mode-kill.mjs";
import { planStop } from "./mode-stop.mjs";
import { Progress } from "./progress.mjs";
import { randomFrom } from "./random.mjs";
import { SentWebhooks } from "./sent-webhooks.mjs";
import { Shops } from "./shops.mjs";
import { openSite } from "./site.mjs";
import { paymentOf, secret, Sender } from "./webhooks.mjs";

const planOf = {
  kill: planKill,
  stop: planStop,
  flood: planFlood,
  database: planDatabase,
  disk: planDisk,
};
const drainMs = 60_000;

/** Does one run: a new database, the traffic and the crashes of the mode, a clean end, and the comparison. */
export async function run(options, kit) {
  const { mode, store, seed, processes, defect } = options;
  const random = randomFrom(seed);
  const planned = planOf[mode]({ ...options, random });

  const sender = senderOf(kit, mode);
  const site = await openSite({ kit, kind: store, module: options.module, mode, disk: options.disk });
  const settings = {
    kit,
    database: site.database.address,
    secret,
    effects: site.effects,
    spool: site.spool,
    defect,
    shared: options.shared ?? false,
    stops: planned.stops ?? false,
  };
  const shops = new Shops(settings, { spares: mode === "kill" ? 2 : 0 });
  const cleaner = new Shops({ ...settings, stops: false }, { spares: 0 });
  const remove = async () => {
    sender.close();
    await Promise.all([shops.killAll(), cleaner.killAll()]);
    await site.remove();
  };
  process.once("SIGINT", () => void remove().finally(() => process.exit(130)));
  try {
    await site.database.prepare(Array.from({ length: planned.payments }, (_, index) => paymentOf(index)));
    const sent = new SentWebhooks();
    const progress = progressOf(planned, sent, options.quiet);
    const report = {};
    const started = performance.now();
    await planned.run({ ...planned, ...site, processes, random, shops, sender, sent, progress, report });
    await shops.killAll();
    await drain(cleaner, site);

    const { deaths } = shops;
    const result = await check({ ...site, sent, deaths: [...deaths, ...cleaner.deaths] });
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const { requests, acknowledged, refused, unanswered } = sent;
    return {
      store,
      mode,
      seed,
      processes,
      ...(defect && { defect }),
      payments: planned.payments,
      requests,
      acknowledged,
      refused,
      unanswered,
      ...report,
      ...result,
      seconds,
      nothingIsHit: planned.nothingIsHit ?? false,
    };
  } finally {
    await remove();
  }
}

function senderOf(kit, mode) {
  const { hmacSignature } = createRequire(import.meta.url)(path.join(kit, "index.js"));
  return new Sender(hmacSignature({ secret }), { keepAlive: mode === "flood" });
}

function progressOf({ steps, unit }, sent, quiet) {
  const describe = () =>
    `${sent.requests} sent, ${sent.acknowledged} answered 200, ${sent.refused} refused, ${sent.unanswered} unanswered`;
  return new Progress({ total: steps, unit, quiet, describe });
}

/** One shop that is not killed finishes the work of the others. The comparison finds what it cannot finish. */
async function drain(shops, { database, spooled }) {
  const shop = await shops.open();
  const deadline = performance.now() + drainMs;
  while (performance.now() < deadline) {
    if (spooled().length === 0 && !(await database.undone(shop))) break;
    await delay(50);
  }
  await shop.end();
}
