/** Sends every webhook many times, in random order, to several shops with one database. Kills nothing. */
export function planFlood({ random, events, copies, processes }) {
  const messages = Array.from({ length: events * copies }, (_, index) => index % events);
  random.shuffle(messages);
  const plan = messages.map((payment) => ({ payment, status: "completed", target: random.below(processes) }));
  return {
    plan,
    payments: events,
    unit: "webhooks",
    steps: plan.length,
    run: runFlood,
    inFlight: 32,
    nothingIsHit: true,
  };
}

async function runFlood({ plan, processes, shops, sender, sent, progress, report }) {
  const open = await Promise.all(Array.from({ length: processes }, () => shops.open()));
  const started = performance.now();
  const queue = plan.values();
  const send = async () => {
    for (const { target, ...message } of queue) {
      const answered = sent.leaving(message);
      answered(await sender.post(open[target].port, message));
      progress.tick();
    }
  };
  await Promise.all(Array.from({ length: 32 }, send));
  report.webhooksPerSecond = Math.round(plan.length / ((performance.now() - started) / 1000));
  report.distinct = new Set(plan.map(({ payment }) => payment)).size;
}
