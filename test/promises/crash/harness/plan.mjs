/**
 * Plans what the service sends in each cycle. The plan depends only on the seed. The webhooks of a payment come in any order,
 * spread over the next cycles, and some are repeated later.
 */
export function planTraffic({ random, cycles, processes, windowMs, fresh = [1, 3] }) {
  const waiting = Array.from({ length: cycles + 1 }, () => []);
  const sent = [];
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
    const copies = Array.from({ length: random.below(4) }, () => random.pick(sent.slice(-40))).filter(
      Boolean,
    );
    const twins = news.filter(() => random.chance(0.15));
    sent.push(...news);
    const sends = random.shuffle([...news, ...copies, ...twins]).map((message) => ({
      ...message,
      at: random.between(0, windowMs),
      target: random.below(processes),
    }));
    plan.push({ sends });
  }
  return { plan, payments };
}

/** Most payments are paid, many of them before or after another status. */
function statusesOf(random) {
  const others = ["pending", "submitted", "failed", "canceled"].filter(() => random.chance(0.2));
  if (random.chance(0.9)) return ["completed", ...others];
  return others.length > 0 ? others : ["failed"];
}

/** Returns the pause of each handler run of one process. Even runs pause before their write, odd runs after it. */
export function drawPauses(random, maxMs = 12) {
  return Array.from({ length: 32 }, () => (random.chance(0.4) ? 0 : random.between(1, maxMs)));
}
