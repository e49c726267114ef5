/** How payments end at the service, and how often. All other orders are paid correctly. */
const endings = [
  { kind: "paid twice", share: 0.01 },
  { kind: "changed amount", share: 0.01 },
  // The basket grew after the first attempt, and the customer paid that one.
  { kind: "earlier amount", share: 0.02 },
  { kind: "abandoned", share: 0.04, statuses: [] },
  { kind: "failed", share: 0.03, statuses: ["submitted", "failed"] },
  { kind: "canceled", share: 0.03, statuses: ["canceled"] },
  { kind: "late success", share: 0.03, statuses: ["submitted", "failed", "completed"] },
];

/** The shares of webhooks that are lost, repeated, reordered or forged. */
export const mess = { dropped: 0.3, doubled: 0.2, reordered: 0.5, forged: 0.01 };

/** The shares of webhooks about payments that this shop did not create, per order. */
export const others = { stranger: 0.01, foreign: 0.01, legacy: 0.005 };

/** The share of the webhooks about orders that a restored backup of the database does not have. */
export const lostShare = 0.1;

/** Returns whether a person accepts the earlier amount of the order. The others are refunded. */
export const isAccepted = ({ n }) => n % 2 === 0;

/** Plans what the customer of each order does. */
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
 * Returns the webhooks in the order of their arrival: some never arrive, some arrive twice, and half of them are reordered.
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
