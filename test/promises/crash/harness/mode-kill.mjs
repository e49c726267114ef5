import { setTimeout as delay } from "node:timers/promises";
import { drawPauses, planTraffic } from "./plan.mjs";

const windowMs = 60;

/** Repeatedly kills a random shop at a random moment of the traffic, and opens the next one. */
export function planKill({ random, cycles, processes, shared }) {
  // Enough orders for groups of runs.
  const traffic = shared ? { fresh: [10, 25] } : {};
  const { plan, payments } = planTraffic({ random, cycles, processes, windowMs, ...traffic });
  const kills = plan.map(({ sends }) => {
    // Most kills come shortly after a webhook was sent: during its record, its answer or its handler, or after these.
    const aimed = sends.length > 0 && random.chance(0.75);
    const at = aimed ? random.pick(sends).at + random.between(0, 25) : random.between(0, windowMs + 30);
    return { sends, kill: { at, victim: random.below(processes) }, pauses: drawPauses(random) };
  });
  return { plan: kills, payments, unit: "cycles", steps: cycles, run: runKill };
}

async function runKill({ plan, processes, shops, sender, sent, progress, report, random }) {
  report.kills = 0;
  const openShop = (pauses) => {
    const opening = shops.open({ pauses });
    opening.catch(() => {}); // The last shops are ended before they are open.
    return opening;
  };
  const open = Array.from({ length: processes }, () => openShop(drawPauses(random)));
  const send = async ({ at: _, target, ...message }) => {
    const { port } = await open[target];
    const answered = sent.leaving(message);
    answered(await sender.post(port, message));
  };
  for (const { sends, kill, pauses } of plan) {
    // A new process is slow at first. With a single one, every kill would come before its first answer.
    const first = processes === 1 ? sends.slice(0, 1) : [];
    for (const one of first) await send(one);
    const traffic = sends.slice(first.length).map(async (one) => {
      await delay(one.at);
      await send(one);
    });
    const killing = (async () => {
      const victim = await open[kill.victim];
      await delay(kill.at);
      // The next webhooks for this shop wait for its successor, like behind a load balancer.
      // Some stores allow one process at a time, so the successor opens after the victim has ended.
      open[kill.victim] = victim.kill().then(() => openShop(pauses));
      open[kill.victim].catch(() => {});
      report.kills++;
      await victim.exited;
    })();
    await Promise.all([...traffic, killing]);
    progress.tick();
  }
}
