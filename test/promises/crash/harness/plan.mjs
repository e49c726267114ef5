/**
 * What the service sends, cycle by cycle, drawn from the seed alone: never from what happened, so that the same seed makes
 * the same plan. A payment's webhooks come in any order, spread over the next cycles, and some come again later.
 */
export function planTraffic({ random, cycles, processes, windowMs, fresh = [1, 3] }) {
  const waiting = Array.from({ length: cycles + 1 }, () => []);
  const said = [];
  let payments = 0;
  const plan = [];
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (let count = random.between(...fresh); count > 0; count--) {
      const payment = payments++;
      for (const status of random.shuffle(statusesOf(random))) {
        waiting[Math.min(cycles - 1, cycle + random.pick([0, 0, 0, 1, 2]))].push({ payment, status });
      }
    }
    const news = waiting[cycle];
    const copies = Array.from({ length: random.below(4) }, () => random.pick(said.slice(-40))).filter(
      Boolean,
    );
    const twins = news.filter(() => random.chance(0.15));
    said.push(...news);
    const sends = random.shuffle([...news, ...copies, ...twins]).map((message) => ({
      ...message,
      at: random.between(0, windowMs),
      target: random.below(processes),
    }));
    plan.push({ sends });
  }
  return { plan, payments };
}

/** Most payments are paid, many of them after or before something else was said of them. */
function statusesOf(random) {
  const others = ["pending", "submitted", "failed", "canceled"].filter(() => random.chance(0.2));
  if (random.chance(0.9)) return ["completed", ...others];
  return others.length > 0 ? others : ["failed"];
}

/** How long the handlers of one process pause, run by run; even ones before their write, odd ones after it. */
export function drawPauses(random, mostMs = 12) {
  return Array.from({ length: 32 }, () => (random.chance(0.4) ? 0 : random.between(1, mostMs)));
}
