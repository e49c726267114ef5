import { setTimeout as delay } from "node:timers/promises";
import { drawPauses, planTraffic } from "./plan.mjs";

const windowMs = 400;
const manyPages = 1_000_000;

/** Fills the disk in the middle of the traffic, and frees space again. */
export function planDisk({ random, cycles, processes }) {
  const traffic = planTraffic({ random, cycles: cycles * 2, processes, windowMs, fresh: [10, 16] });
  return { ...traffic, unit: "phases", steps: cycles * 2, run: runDisk };
}

/** Phases alternate: the disk becomes full in the middle of one, and has space again in the middle of the next. */
async function runDisk({ plan, processes, shops, sender, sent, progress, report, disk, random }) {
  Object.assign(report, { disk: disk.kind, fills: 0 });
  const open = [];
  for (let index = 0; index < processes; index++)
    open.push(await shops.open({ pauses: drawPauses(random, 30) }));
  const pages = (more) =>
    Promise.all(
      open.map((shop) => {
        shop.child.send({ pages: more });
        return shop.next("limited", more);
      }),
    );
  for (const [phase, { sends }] of plan.entries()) {
    const filling = phase % 2 === 0;
    const send = async ({ target, payment, status }) => {
      const answered = sent.leaving({ payment, status });
      // Too large for the free space in any page of the file.
      answered(await sender.post(open[target].port, { payment, status, padding: 6000 }));
    };
    const traffic = sends.map((message) => delay(message.at).then(() => send(message)));
    await delay(windowMs / 3);
    if (filling) {
      report.fills++;
      await (disk.kind === "mount" ? disk.fill() : pages(4));
    } else {
      await (disk.kind === "mount" ? disk.free() : pages(manyPages));
    }
    await Promise.all(traffic);
    // When there is space again, the service repeats what it sent while the disk was full.
    if (!filling) await Promise.all([...plan[phase - 1].sends, ...sends].map(send));
    progress.tick();
  }
}
