import { setTimeout as delay } from "node:timers/promises";
import { drawPauses, planTraffic } from "./plan.mjs";

/** Kills the database server in the middle of the traffic, or shuts it down, and restarts it. The shops keep running. */
export function planDatabase({ random, cycles, processes, outageMs }) {
  const outages = Array.from({ length: cycles }, () => outageMs ?? random.between(100, 600));
  const windowMs = 600 + Math.max(...outages);
  const fresh = [Math.ceil(windowMs / 60), Math.ceil(windowMs / 40)];
  const { plan, payments } = planTraffic({ random, cycles, processes, windowMs, fresh });
  return {
    plan: plan.map(({ sends }, index) => ({
      sends,
      outage: {
        at: random.between(50, 400),
        lastsMs: outages[index],
        orderly: random.chance(0.3),
      },
    })),
    payments,
    unit: "outages",
    steps: cycles,
    run: runDatabase,
  };
}

async function runDatabase({ plan, processes, shops, sender, sent, progress, report, server, random }) {
  Object.assign(report, { outages: 0, restarts: 0 });
  const open = [];
  for (let index = 0; index < processes; index++)
    open.push(await shops.open({ pauses: drawPauses(random, 30) }));
  for (const { sends, outage } of plan) {
    const send = async ({ target, payment, status }) => {
      const answered = sent.leaving({ payment, status });
      answered(await sender.post(open[target].port, { payment, status }));
    };
    const traffic = sends.map((message) => delay(message.at).then(() => send(message)));
    await delay(outage.at);
    await server.kill(outage);
    await delay(outage.lastsMs);
    await server.start();
    report[outage.orderly ? "restarts" : "outages"]++;
    await Promise.all(traffic);
    // The service tries again, whatever the answer was.
    await Promise.all(sends.map(send));
    progress.tick();
  }
}
