/** How the payments of an order end at the service, and how often: the rest is paid as it should be. */
const endings = [
  { kind: "paid twice", share: 0.01 },
  { kind: "changed amount", share: 0.01 },
  { kind: "abandoned", share: 0.04, statuses: [] },
  { kind: "failed", share: 0.03, statuses: ["submitted", "failed"] },
  { kind: "canceled", share: 0.03, statuses: ["canceled"] },
  { kind: "late success", share: 0.03, statuses: ["submitted", "failed", "completed"] },
];

/** What happens to webhooks on their way. */
export const mess = { dropped: 0.3, doubled: 0.2, reordered: 0.5, forged: 0.01 };

/** Webhooks for payments that this shop did not create, per order. */
export const others = { stranger: 0.01, foreign: 0.01, legacy: 0.005 };

/** What the customer of each order does. */
export function planOrders(random, count) {
  return Array.from({ length: count }, (_, n) => {
    const reference = `order-${n}`;
    const value = String(100 + random.below(100_000));
    let left = random.below(1_000_000) / 1_000_000;
    const ending = endings.find(({ share }) => (left -= share) < 0);
    const usual = random.chance(0.5) ? ["submitted", "completed"] : ["completed"];
    return { n, reference, value, kind: ending?.kind ?? "paid", statuses: ending?.statuses ?? usual };
  });
}

/**
 * The webhooks as they arrive: some never, some twice, half of them anywhere. `sent` are in the order in which they
 * happened.
 */
export function makeMess(random, sent) {
  const arriving = [];
  const counts = { sent: sent.length, dropped: 0, doubled: 0, reordered: 0 };
  for (const webhook of sent) {
    if (random.chance(mess.dropped)) {
      counts.dropped += 1;
      continue;
    }
    arriving.push(webhook);
    if (!random.chance(mess.doubled)) continue;
    counts.doubled += 1;
    arriving.push(webhook);
  }
  const places = arriving.flatMap((_, place) => (random.chance(mess.reordered) ? [place] : []));
  counts.reordered = places.length;
  const moved = random.shuffle(places.map((place) => arriving[place]));
  for (const [index, place] of places.entries()) arriving[place] = moved[index];
  return { arriving, counts };
}
