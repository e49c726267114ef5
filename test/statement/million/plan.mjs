import { randomFrom } from "../../promises/crash/harness/random.mjs";

// Plans payments and a statement about them, with planted differences of every kind. Each case below is one order on both
// sides, with its expected findings. There must be no other findings.

export const period = { from: "2024-05-01T00:00:00.000Z", to: "2024-06-01T00:00:00.000Z" };
export const clientIdPrefix = "shop1-";
export const header = [
  "Merchant ref",
  "Payment",
  "Note",
  "Amount",
  "Currency",
  "Status",
  "Channel",
  "Paid at",
  "Fee",
  "Net",
  "Payout",
];

const minorUnits = { KMF: 0, MGA: 2, EUR: 2, TND: 3 };
const dayMs = 86_400_000;

/** How often each case is drawn, in 10,000 draws. */
const weights = {
  agreed: 9350,
  unpaidOnBothSides: 60,
  failedSibling: 40,
  completedOutside: 40,
  openInStore: 60,
  foreign: 20,
  atTheEnds: 4,
  missingHere: 26,
  missingThere: 26,
  otherAmount: 26,
  otherCurrency: 26,
  unpaidHere: 26,
  unpaidThere: 26,
  listedTwice: 26,
  paidTwice: 26,
  paidTwiceLongAgo: 20,
  otherId: 26,
  badRow: 26,
  unmatched: 26,
  otherAmountAndOpen: 16,
  withheld: 26,
  refunded: 26,
  otherFee: 26,
  otherPayout: 26,
};

/** Yields `{ payments, rows }` until there are as many rows as asked for. A row has `expects`: findings at its line. */
export function* planCases({ rows: count, seed }) {
  const random = randomFrom(seed);
  const drawn = Object.entries(weights).flatMap(([name, weight]) =>
    Array.from({ length: weight }, () => name),
  );
  let number = 0;
  for (let written = 0; written < count;) {
    const one = caseOf(random.pick(drawn), random, ++number);
    // The last case must have exactly the rows that are left.
    if (written + one.rows.length > count) continue;
    written += one.rows.length;
    yield one;
  }
}

function caseOf(name, random, number) {
  const paid = (over = {}) => newPayment(random, number, over);
  const lists = (payment, over = {}, expects = []) => newRow(random, payment, over, expects);
  const find = (kind, { clientId }) => ({ kind, clientId });
  switch (name) {
    case "unpaidOnBothSides": {
      const payment = paid({ state: "pending" });
      return { payments: [payment], rows: [lists(payment, { status: "pending" })] };
    }
    case "failedSibling": {
      const failed = paid({ state: "failed" });
      const payment = paid({ reference: failed.reference });
      return { payments: [failed, payment], rows: [lists(payment)] };
    }
    case "completedOutside":
      return { payments: [paid({ at: random.pick([-1, 31]) * dayMs + random.below(dayMs) })], rows: [] };
    case "openInStore":
      return { payments: [paid({ state: "pending" })], rows: [] };
    case "foreign":
      return { payments: [], rows: [lists(paid({ prefix: "shop2-" }))] };
    case "atTheEnds": {
      const first = paid({ at: 0 });
      return {
        payments: [first, paid({ at: 31 * dayMs, reference: `other-${number}` })],
        rows: [],
        lost: [find("missing_there", first)],
      };
    }
    case "missingHere": {
      const payment = paid();
      return { payments: [], rows: [lists(payment, { ids: "both" }, [find("missing_here", payment)])] };
    }
    case "missingThere": {
      const payment = paid();
      return { payments: [payment], rows: [], lost: [find("missing_there", payment)] };
    }
    case "otherAmount": {
      const payment = paid();
      const units = payment.units + BigInt(random.pick([-1, 1, 500]));
      return { payments: [payment], rows: [lists(payment, { units }, [find("amount_differs", payment)])] };
    }
    case "otherCurrency": {
      const payment = paid();
      const currency = random.pick(Object.keys(minorUnits).filter((one) => one !== payment.currency));
      return {
        payments: [payment],
        rows: [lists(payment, { currency }, [find("currency_differs", payment)])],
      };
    }
    case "unpaidHere": {
      const payment = paid({ state: random.pick(["pending", "uncertain", "failed", "canceled"]) });
      return { payments: [payment], rows: [lists(payment, {}, [find("unpaid_here", payment)])] };
    }
    case "unpaidThere": {
      const payment = paid();
      const status = random.pick(["failed", "pending", "reversed"]);
      return { payments: [payment], rows: [lists(payment, { status }, [find("unpaid_there", payment)])] };
    }
    case "listedTwice": {
      const payment = paid();
      // The finding is about the second row in the file.
      return { payments: [payment], rows: [lists(payment, { twin: true }), lists(payment, { twin: true })] };
    }
    case "paidTwice": {
      const at = random.below(30 * dayMs);
      const first = paid({ at });
      const second = paid({ at: at + 1 + random.below(dayMs), reference: first.reference });
      return {
        payments: [first, second],
        rows: [lists(first), lists(second, {}, [find("paid_twice", second)])],
      };
    }
    case "paidTwiceLongAgo": {
      const first = paid({ at: -20 * dayMs });
      const second = paid({ reference: first.reference });
      return { payments: [first, second], rows: [lists(second, {}, [find("paid_twice", second)])] };
    }
    case "otherId": {
      const payment = paid();
      const serviceId = hex(random, 24);
      return {
        payments: [payment],
        rows: [lists(payment, { serviceId, ids: "both" }, [find("id_differs", payment)])],
      };
    }
    case "badRow":
      return {
        payments: [],
        rows: [{ bad: random.pick(brokenRows), random: random.below(1e9), expects: [] }],
      };
    case "unmatched": {
      const payment = paid();
      // No payment has such an amount.
      const units = payment.units + 10_000_000n;
      const row = lists(payment, { units }, [find("unmatched_row", { clientId: "" })]);
      return { payments: [], rows: [{ ...row, clientId: "", serviceId: "" }] };
    }
    case "otherAmountAndOpen": {
      const payment = paid({ state: "pending" });
      const expects = [find("amount_differs", payment), find("unpaid_here", payment)];
      return { payments: [payment], rows: [lists(payment, { units: payment.units * 10n }, expects)] };
    }
    case "withheld": {
      const payment = { ...paid(), withheld: "unsettled" };
      return { payments: [payment], rows: [lists(payment, {}, [find("withheld", payment)])] };
    }
    case "refunded": {
      const payment = paid();
      const back = lists(payment, {}, [find("refund_missing_here", payment)]);
      return {
        payments: [payment],
        rows: [lists(payment), { ...back, value: `-${back.value}`, isNoSale: true }],
      };
    }
    case "otherFee": {
      const payment = paid();
      const row = lists(payment, {}, [find("fee_differs", payment)]);
      return { payments: [payment], rows: [{ ...row, fee: row.value, net: row.value }] };
    }
    case "otherPayout": {
      const payment = paid();
      const [row, paidOut] = [lists(payment), lists(payment, {}, [find("payout_differs", { clientId: "" })])];
      const payout = `payout-${number}`;
      const value = `1${paidOut.value}`;
      const isOf = { clientId: "", serviceId: "", note: "", value, isNoSale: true };
      return {
        payments: [payment],
        rows: [
          { ...row, payout },
          { ...paidOut, ...isOf, payout },
        ],
      };
    }
    default: {
      const payment = paid();
      const row = lists(payment);
      if (random.chance(0.1)) Object.assign(row, { fee: "0", net: row.value, payout: `payout-${number}` });
      return { payments: [payment], rows: [row] };
    }
  }
}

/** Lines that cannot be read as a payment. One of them is not UTF-8. */
export const brokenRows = [
  (n) => `${clientIdPrefix}bad${n},,,"1,475",KMF,completed,MVK,2024-05-02T10:00:00Z`,
  (n) => `${clientIdPrefix}bad${n},,,--1475,KMF,completed,MVK,2024-05-02T10:00:00Z`,
  (n) => `${clientIdPrefix}bad${n},,,14.75,KMF,completed,MVK,2024-05-02T10:00:00Z`,
  (n) => `${clientIdPrefix}bad${n},,,1475,kmf,completed,MVK,2024-05-02T10:00:00Z`,
  (n) => `${clientIdPrefix}bad${n},,,1475,KMF,completed,MVK,31/05/2024`,
  (n) => `${clientIdPrefix}bad${n},1475,KMF`,
  (n) => `,,,1475,KMF,completed,MVK,2024-05-02T10:00:00Z,${n}`,
  () => ",,,1475,KMF,completed,MVK,",
  (n) => `${clientIdPrefix}bad${n},,a "note",1475,KMF,completed,MVK,2024-05-02T10:00:00Z`,
  (n) => `${clientIdPrefix}bad${n},,"never closed,1475,KMF,completed,MVK,2024-05-02T10:00:00Z`,
  (n) => `${clientIdPrefix}bad${n},,\u00ff,1475,KMF,completed,MVK,2024-05-02T10:00:00Z`,
].map((row) => (n) => `${row(n)},,,`);

const notes = [
  "",
  "",
  "",
  "plain",
  'said ""fine""',
  ", starts with a comma",
  "two\nlines",
  "three\r\nlines\n",
  "é 🧾",
];

function newRow(random, payment, over, expects) {
  const { currency = payment.currency, units = payment.units, serviceId = payment.serviceId } = over;
  const ids =
    over.ids ?? (expects.length > 0 ? "both" : random.pick(["both", "both", "clientId", "serviceId"]));
  const isForeign = !payment.clientId.startsWith(clientIdPrefix);
  return {
    clientId: ids === "serviceId" && !isForeign ? "" : payment.clientId,
    serviceId: ids === "clientId" ? "" : serviceId,
    note: random.pick(notes),
    value: decimal(units, minorUnits[currency], random),
    currency,
    units,
    status: over.status ?? random.pick(["completed", "COMPLETED", "paid", ""]),
    source: payment.source,
    time: new Date(Math.min(payment.at, Date.parse(period.to) - 1)).toISOString(),
    ...(over.twin && { twin: payment.clientId }),
    ...(isForeign && { isForeign }),
    expects,
  };
}

/** Returns a decimal string, sometimes with trailing zeros that do not change the amount. */
function decimal(units, places, random) {
  const digits = String(units).padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  const decimals = places === 0 ? (random.chance(0.1) ? "00" : "") : digits.slice(-places);
  return decimals === "" ? whole : `${whole}.${decimals}`;
}

function newPayment(
  random,
  number,
  { state = "completed", at = random.below(31 * dayMs), reference, prefix } = {},
) {
  const currency = random.pick(["KMF", "KMF", "KMF", "EUR", "MGA", "TND"]);
  const units = BigInt(random.between(1000, 5_000_000));
  const time = Date.parse(period.from) + at;
  return {
    clientId: `${prefix ?? clientIdPrefix}${number.toString(36)}-${hex(random, 12)}`,
    serviceId: hex(random, 24),
    reference: reference ?? `order-${number}`,
    value: decimal(units, minorUnits[currency], random),
    currency,
    units,
    source: random.pick(["MVK", "MVK", "HOL", "PYP"]),
    state,
    at: time,
    createdAt: new Date(time - random.between(20_000, 10 * dayMs)).toISOString(),
    completedAt: new Date(time).toISOString(),
  };
}

function hex(random, length) {
  let text = "";
  while (text.length < length) text += random.below(0x1000000).toString(16).padStart(6, "0");
  return text.slice(0, length);
}
