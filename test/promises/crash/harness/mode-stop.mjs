import { setTimeout as delay } from "node:timers/promises";

const takeoverMs = 5000;

/** Stops a shop inside a handler until its lease ended and another shop took over, then continues it. It must not commit. */
export function planStop({ random, cycles, processes }) {
  const plan = Array.from({ length: cycles }, (_, payment) => ({ payment, target: random.below(processes) }));
  return { plan, payments: cycles, unit: "stops", steps: cycles, run: runStop, stops: true };
}

async function runStop({ plan, processes, shops, sender, sent, progress, report, database }) {
  Object.assign(report, { stops: 0, takeovers: 0 });
  const open = [];
  // Renewals fail in every second shop, so that only the fence can prevent the late commit.
  for (let index = 0; index < Math.max(2, processes); index++)
    open.push(await shops.open({ renewalFails: index % 2 === 1 }));
  for (const { payment, target } of plan) {
    const message = { payment, status: "completed" };
    const clientId = `c-${payment}`;
    const answered = sent.leaving(message);
    const answer = sender.post(open[target].port, message);
    const stopped = await first(open, "handling", clientId);
    stopped.stop();
    report.stops++;
    if (await takenOver(database, clientId)) report.takeovers++;
    stopped.wake();
    answered(await answer);
    await stopped.next("ended", clientId);
    progress.tick();
  }
  // After their close the continued processes have made all their late commits.
  await Promise.all(open.map((shop) => shop.end()));
}

async function first(shops, key, value) {
  const done = new AbortController();
  const told = shops.map(async (shop) => {
    await shop.next(key, value, done.signal);
    return shop;
  });
  try {
    return await Promise.any(told);
  } finally {
    done.abort();
    await Promise.allSettled(told);
  }
}

/** Returns whether another process has committed. It cannot where the stopped process holds a lock that all of them need. */
async function takenOver(database, clientId) {
  const { prefix } = database.address;
  const deadline = performance.now() + takeoverMs;
  while (performance.now() < deadline) {
    const rows = await database
      .query(`select attempt from ${prefix}ledger where client_id = '${clientId}'`)
      .catch(() => []);
    if (rows.length > 0) return true;
    await delay(20);
  }
  return false;
}
