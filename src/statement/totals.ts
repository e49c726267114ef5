import { minorUnit } from "../model/currencies.js";
import { minorUnits } from "../model/money.js";
import { type Money } from "../model/payment.js";
import { differenceKinds, type FindingKind } from "./finding.js";
import { type ChannelTotals, type CurrencyTotals, type RowBucket, type Sum } from "./summary.js";

const mostChannels = 200;
const rowBuckets = [
  "matched",
  "missing_here",
  "id_differs",
  "currency_differs",
  "amount_differs",
  "unpaid_here",
  "listed_twice",
] as const satisfies readonly RowBucket[];

type Side = "books" | "missingThere" | "unpaidThere" | "paidTwice";
type Counter = { count: number; units: bigint };

/** Sums in minor units, exactly; one set for each currency, one for each channel. */
export class Totals {
  readonly counts = Object.fromEntries(
    [...differenceKinds, "bad_row", "at_edge"].map((kind) => [kind, 0]),
  ) as Record<FindingKind, number>;
  readonly #currencies = new Map<string, Map<RowBucket | Side | "difference", Counter>>();
  readonly #channels = new Map<
    string,
    { source: string; currency: string; matched: Counter; differing: Counter }
  >();

  /** A row that says paid, in the one place that it has. */
  addRow(bucket: RowBucket, { value, currency }: Money, source = ""): void {
    const units = minorUnits(value, currency);
    add(this.#counter(currency, bucket), units);
    const channel = this.#channel(source, currency);
    add(bucket === "matched" ? channel.matched : channel.differing, units);
  }

  /** A payment of the books. */
  addPayment(side: Side, { value, currency }: Money): void {
    add(this.#counter(currency, side), unitsOf(value, currency));
  }

  /** By how much the amount of a row is off. */
  addDifference(statement: Money, books: Money): void {
    add(this.#counter(statement.currency, "difference"), differenceInUnits(statement, books));
  }

  currencies(): CurrencyTotals[] {
    const sorted = [...this.#currencies].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([currency, counters]) => {
      const sum = (key: RowBucket | Side): Sum => sumOf(counters.get(key), currency);
      const ofRows = rowBuckets.flatMap((bucket) => counters.get(bucket) ?? []);
      return {
        currency,
        statement: sumOf(together(ofRows), currency),
        books: sum("books"),
        rows: Object.fromEntries(rowBuckets.map((key) => [key, sum(key)])) as CurrencyTotals["rows"],
        missingThere: sum("missingThere"),
        unpaidThere: sum("unpaidThere"),
        paidTwice: sum("paidTwice"),
        amountDifference: decimal(counters.get("difference")?.units ?? 0n, currency),
      };
    });
  }

  channels(): ChannelTotals[] {
    const key = ({ source, currency }: { source: string; currency: string }) => `${currency} ${source}`;
    return [...this.#channels.values()]
      .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
      .map(({ source, currency, matched, differing }) => ({
        source,
        currency,
        statement: sumOf(together([matched, differing]), currency),
        matched: sumOf(matched, currency),
        differing: sumOf(differing, currency),
      }));
  }

  #counter(currency: string, key: RowBucket | Side | "difference"): Counter {
    let counters = this.#currencies.get(currency);
    if (!counters) this.#currencies.set(currency, (counters = new Map()));
    let counter = counters.get(key);
    if (!counter) counters.set(key, (counter = none()));
    return counter;
  }

  #channel(source: string, currency: string) {
    // A column of ids mapped as the source must not become a million channels.
    const known = this.#channels.get(`${currency} ${source}`);
    const name = known || this.#channels.size < mostChannels ? source : "*";
    const key = `${currency} ${name}`;
    const channel = known ??
      this.#channels.get(key) ?? { source: name, currency, matched: none(), differing: none() };
    this.#channels.set(key, channel);
    return channel;
  }
}

/** Statement minus books, of one currency, as a decimal string. */
export function differenceOf(statement: Money, books: Money): string {
  return decimal(differenceInUnits(statement, books), statement.currency);
}

function differenceInUnits(statement: Money, books: Money): bigint {
  return minorUnits(statement.value, statement.currency) - unitsOf(books.value, books.currency);
}

/** An amount of the books. One with more decimals than its currency has cannot be told in minor units, and counts as none. */
function unitsOf(value: string, currency: string): bigint {
  try {
    return minorUnits(value, currency);
  } catch {
    return 0n;
  }
}

function none(): Counter {
  return { count: 0, units: 0n };
}

function add(counter: Counter, units: bigint): void {
  counter.count += 1;
  counter.units += units;
}

function together(counters: readonly Counter[]): Counter {
  const all = none();
  for (const { count, units } of counters) {
    all.count += count;
    all.units += units;
  }
  return all;
}

function sumOf(counter: Counter | undefined, currency: string): Sum {
  return { count: counter?.count ?? 0, value: decimal(counter?.units ?? 0n, currency) };
}

/** Minor units as a decimal string, with as many decimals as the currency has; four where that is not known. */
function decimal(units: bigint, currency: string): string {
  const places = minorUnit(currency) ?? 4;
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  return `${units < 0n ? "-" : ""}${whole}${places === 0 ? "" : `.${digits.slice(-places)}`}`;
}
