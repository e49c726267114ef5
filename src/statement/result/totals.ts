import { decimalOf, minorUnits } from "../../model/money.js";
import { type Money } from "../../model/payment.js";
import { differenceKinds, type FindingKind } from "./finding.js";
import {
  type ChannelTotals,
  type CurrencyTotals,
  type RowBucket,
  type StatementSummary,
  type Sum,
} from "./summary.js";

const maxChannels = 200;
const rowBuckets = [
  "matched",
  "missing_here",
  "unmatched_row",
  "id_differs",
  "currency_differs",
  "amount_differs",
  "unpaid_here",
  "withheld",
  "listed_twice",
] as const satisfies readonly RowBucket[];
const paymentCounters = [
  "stored",
  "missingThere",
  "unpaidThere",
  "paidTwice",
  "onOtherStatements",
  "ofOtherDays",
] as const;
const moneyCounters = ["refunds", "fees", "net", "payouts"] as const;
const counterNames = [...rowBuckets, ...paymentCounters, ...moneyCounters, "difference"] as const;

type PaymentCounter = (typeof paymentCounters)[number];
type MoneyCounter = (typeof moneyCounters)[number];
type CounterName = (typeof counterNames)[number];
type Counter = { count: number; units: bigint };

/** The counts of findings, and exact sums in minor units for each currency and each channel. */
export class Totals {
  readonly counts = Object.fromEntries(
    [...differenceKinds, "bad_row", "at_edge", "accepted_here"].map((kind) => [kind, 0]),
  ) as Record<FindingKind, number>;
  readonly #currencies = new Map<string, Record<CounterName, Counter>>();
  readonly #foreign = new Map<string, Counter>();
  readonly #channels = new Map<string, Record<"matched" | "differing", Counter> & ChannelName>();

  /** Adds a paid row to its group and to its channel. */
  addRow(bucket: RowBucket, { value, currency }: Money, source = ""): void {
    const units = minorUnits(value, currency);
    add(this.#counters(currency)[bucket], units);
    const channel = this.#channel(source, currency);
    add(bucket === "matched" ? channel.matched : channel.differing, units);
  }

  addPayment(counter: PaymentCounter, { value, currency }: Money): void {
    add(this.#counters(currency)[counter], storedUnits(value, currency));
  }

  /** Adds an amount of a row, in minor units, to a sum. */
  addMoney(counter: MoneyCounter, units: bigint, currency: string): void {
    add(this.#counters(currency)[counter], units);
  }

  /** Adds a paid row of another shop. */
  addForeign({ value, currency }: Money): void {
    const counter = this.#foreign.get(currency) ?? zero();
    this.#foreign.set(currency, counter);
    add(counter, minorUnits(value, currency));
  }

  foreignSums(): StatementSummary["foreignSums"] {
    const sorted = [...this.#foreign].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([currency, counter]) => ({ currency, ...sumOf(currency, counter) }));
  }

  /** Adds the difference of a row of `amount_differs`. */
  addDifference(statement: Money, stored: Money): void {
    add(this.#counters(statement.currency).difference, differenceInUnits(statement, stored));
  }

  currencies(): CurrencyTotals[] {
    const sorted = [...this.#currencies].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([currency, counters]) => {
      const sum = (...names: CounterName[]): Sum => sumOf(currency, ...names.map((name) => counters[name]));
      return {
        currency,
        statement: sum(...rowBuckets),
        stored: sum("stored"),
        rows: Object.fromEntries(rowBuckets.map((name) => [name, sum(name)])) as CurrencyTotals["rows"],
        missingThere: sum("missingThere"),
        unpaidThere: sum("unpaidThere"),
        paidTwice: sum("paidTwice"),
        onOtherStatements: sum("onOtherStatements"),
        ofOtherDays: sum("ofOtherDays"),
        refunds: sum("refunds"),
        fees: sum("fees"),
        net: sum("net"),
        payouts: sum("payouts"),
        amountDifference: sum("difference").value,
      };
    });
  }

  channels(): ChannelTotals[] {
    return [...this.#channels.values()]
      .toSorted((a, b) => (channelKey(a) < channelKey(b) ? -1 : 1))
      .map(({ source, currency, matched, differing }) => ({
        source,
        currency,
        statement: sumOf(currency, matched, differing),
        matched: sumOf(currency, matched),
        differing: sumOf(currency, differing),
      }));
  }

  #counters(currency: string): Record<CounterName, Counter> {
    let counters = this.#currencies.get(currency);
    if (!counters) {
      const zeros = counterNames.map((name) => [name, zero()]);
      counters = Object.fromEntries(zeros) as Record<CounterName, Counter>;
      this.#currencies.set(currency, counters);
    }
    return counters;
  }

  #channel(source: string, currency: string) {
    const known = this.#channels.get(channelKey({ source, currency }));
    if (known) return known;
    // The number of channels is limited, because the source may be a column of ids by mistake.
    const name = { source: this.#channels.size < maxChannels ? source : "*", currency };
    const channel = this.#channels.get(channelKey(name)) ?? { ...name, matched: zero(), differing: zero() };
    this.#channels.set(channelKey(name), channel);
    return channel;
  }
}

type ChannelName = Pick<ChannelTotals, "source" | "currency">;

function channelKey({ source, currency }: ChannelName): string {
  return `${currency} ${source}`;
}

/** Returns the amount of the statement minus the stored amount, both of one currency, as a decimal string. */
export function differenceOf(statement: Money, stored: Money): string {
  return decimalOf(differenceInUnits(statement, stored), statement.currency);
}

function differenceInUnits(statement: Money, stored: Money): bigint {
  return minorUnits(statement.value, statement.currency) - storedUnits(stored.value, stored.currency);
}

/** Returns a stored amount in minor units, and 0 for an amount with more decimals than its currency has. */
function storedUnits(value: string, currency: string): bigint {
  try {
    return minorUnits(value, currency);
  } catch {
    return 0n;
  }
}

function zero(): Counter {
  return { count: 0, units: 0n };
}

function add(counter: Counter, units: bigint): void {
  counter.count += 1;
  counter.units += units;
}

function sumOf(currency: string, ...counters: Counter[]): Sum {
  const count = counters.reduce((sum, one) => sum + one.count, 0);
  const units = counters.reduce((sum, one) => sum + one.units, 0n);
  return { count, value: decimalOf(units, currency) };
}
