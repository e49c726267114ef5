import {
  type Payment,
  type PaymentHistory,
  type PaymentQuery,
  type Payments,
  type WebhookPage,
  type WebhookRecord,
} from "../../index.js";
import { dayMs } from "../../shared/date-time.js";
import { isSameNumber } from "../../shared/payment-number.js";
import { isAmount, sameValue, valueMistake } from "../../model/money.js";
import { type RunAction } from "../terminal/actions.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type ExitCode } from "../terminal/command.js";
import { commandLine } from "../terminal/command-line.js";
import { timeOption } from "../terminal/option-values.js";
import { type Output } from "../terminal/output.js";
import { printColumns } from "../terminal/table.js";
import { notesOf } from "./notes-of.js";

const maxPage = 500;
const maxFound = 100;
/** The maximum number of payments that are searched if no payment has exactly the given id or number. */
const maxCompared = 10_000;

const otherWays =
  "You can also search by the order number or the number on the receipt, or by --amount with --day, the UTC day of the " +
  "payment's creation. If only the provider has a number, look for the number in the provider's statement: " +
  "tillkit help statement";

/** Finds payments by a text, by a day, or by both. `--amount` excludes payments with other amounts. */
export const find: RunAction = async (payments, args, { output }) => {
  const text = args.object;
  const [amount, time] = [args.get("amount"), timeOption(args, "day")];
  const day = time && startOfDay(time);
  if (amount !== undefined && !day) throw optionError("--amount needs --day.");
  if (amount !== undefined && !isAmount(amount)) throw optionError(`--amount ${valueMistake(amount)}`);
  if (!text && !day)
    throw operandError("tillkit payments find needs <text>, or --day with or without --amount.");
  const isWanted = ({ createdAt, total, received = total }: Payment): boolean =>
    (!day || startOfDay(new Date(createdAt)).getTime() === day.getTime()) &&
    (amount === undefined || [total, received].some(({ value }) => sameValue(value, amount)));
  const found = text
    ? (await paymentsLike(payments, text)).filter(isWanted)
    : await ofDay(payments, day!, isWanted);
  const code = printPayments(found, output);
  const show = (object: string): string => commandLine(["payments", "show", object], args);
  const capitals = text?.toUpperCase();
  if (found.length > 0)
    output.print(
      `\nHistory of ${found.length > 1 ? "the first payment" : "this payment"}: ${show(found[0]!.clientId)}`,
    );
  else if (text && (await payments.history(text)).entries.length > 0)
    output.print(`A webhook or a decision names ${text}: ${show(text)}`);
  else if (
    capitals !== undefined &&
    capitals !== text &&
    (await paymentsNamed(payments, capitals)).length > 0
  )
    output.print(`Capitals differ. Did you mean: ${commandLine(["payments", "find", capitals], args)}`);
  else {
    const foreign = text && (await foreignNamed(payments, text));
    output.print(
      foreign ? `A webhook about another shop's payment has ${text}: ${show(foreign)}` : otherWays,
    );
  }
  return code;
};

/** Returns the payments that have this text as an id, an order, a provider's number or a claimed number. */
export async function paymentsNamed(payments: Payments, text: string): Promise<Payment[]> {
  const found = [
    await payments.find(text),
    await payments.find({ serviceId: text }),
    ...(await payments.list({ reference: text, limit: maxFound })).payments,
    ...(await payments.list({ providerId: text, limit: maxFound })).payments,
    ...(await payments.list({ claimed: text, limit: maxFound })).payments,
  ];
  return [...new Map(found.flatMap((one) => (one ? [[one.clientId, one] as const] : []))).values()];
}

/**
 * Returns the payments that a text names. If no id, order or provider's number is equal to the text, the
 * function also searches the newest payments. The function then compares the text with the numbers and
 * refunds of these payments. This comparison ignores capitals, spaces and signs.
 */
export async function paymentsLike(payments: Payments, text: string): Promise<Payment[]> {
  const found = await paymentsNamed(payments, text);
  const names = found.map(({ clientId, serviceId, reference, reported }) => [
    clientId,
    serviceId,
    reference,
    reported?.providerId,
  ]);
  if (names.flat().includes(text)) return found;
  let read = 0;
  for await (const one of allPayments(payments, {})) {
    const number = one.reported?.providerId;
    // People often leave out the letters before the number, such as HOL- in HOL-0075F4C9.
    const numbers = [number, number?.replace(/^[A-Za-z]+[^A-Za-z0-9]+/, "")];
    if (one.refunded !== undefined) numbers.push(...(await refundKeys(payments, one.clientId)));
    const isNew = !found.some(({ clientId }) => clientId === one.clientId);
    if (isNew && numbers.some((each) => isSameNumber(text, each))) found.push(one);
    if (++read === maxCompared) break;
  }
  return found.slice(0, maxFound);
}

/** Returns the numbers of the transfers that sent a payment's money back. */
async function refundKeys(payments: Payments, clientId: string): Promise<(string | undefined)[]> {
  const { entries } = await wholeHistory(payments, clientId);
  return entries.map((one) => (one.kind === "resolution" ? one.refund?.key : undefined));
}

/** Returns a history with the entries of all its pages, oldest first. */
export async function wholeHistory(payments: Payments, clientId: string): Promise<PaymentHistory> {
  const { cursor: next, ...newest } = await payments.history(clientId);
  const entries = [...newest.entries];
  for (let cursor = next; cursor !== undefined;) {
    const older = await payments.history(clientId, { cursor });
    entries.unshift(...older.entries);
    cursor = older.cursor;
  }
  return { ...newest, entries: entries.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)) };
}

/** Searches the webhooks of other shops for the text, without an index. Returns the clientId of a match. */
async function foreignNamed(payments: Payments, text: string): Promise<string | undefined> {
  const key = JSON.stringify(text);
  for await (const page of webhookPages(payments, { outcome: "foreign" })) {
    const found = page.findLast(({ rawBody }) => rawBody.includes(key));
    if (found) return found.clientId;
  }
  return undefined;
}

/** Yields all webhooks that match, page by page. */
export async function* webhookPages(
  { store }: Payments,
  query: Pick<WebhookPage, "clientId" | "outcome">,
): AsyncGenerator<WebhookRecord[], void, undefined> {
  for (let after: WebhookPage["after"]; ;) {
    const page = await store.webhooks({ ...query, limit: maxPage, ...(after && { after }) });
    yield page;
    after = page.at(-1);
    if (page.length < maxPage) return;
  }
}

/**
 * Returns the clientId of the payment that a text names. Without such a payment, returns the text itself.
 * Throws `command_operand_invalid` if the text names several payments.
 */
export async function clientIdNamed(payments: Payments, text: string): Promise<string> {
  if (await payments.find(text)) return text;
  const found = await paymentsNamed(payments, text);
  if (found.length > 1) {
    const ids = found.map(({ clientId }) => clientId).join(", ");
    throw operandError(`${text} names ${found.length} payments: ${ids}. Give the clientId of one of them.`);
  }
  return found[0]?.clientId ?? text;
}

/** Returns the start of the UTC day. */
function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / dayMs) * dayMs);
}

async function ofDay(
  payments: Payments,
  day: Date,
  isWanted: (payment: Payment) => boolean,
): Promise<Payment[]> {
  const found: Payment[] = [];
  const to = new Date(day.getTime() + dayMs);
  for await (const one of allPayments(payments, { from: day, to })) if (isWanted(one)) found.push(one);
  return found;
}

/** Yields all payments of a query, page by page. */
export async function* allPayments(
  payments: Payments,
  query: PaymentQuery,
): AsyncGenerator<Payment, void, undefined> {
  for (let cursor: string | undefined; ;) {
    const page = await payments.list({ ...query, limit: maxPage, cursor });
    yield* page.payments;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

/** Prints payments as a table, or says that there are none. */
export function printPayments(found: readonly Payment[], output: Output, cursor?: string): ExitCode {
  output.printJson({ payments: found.map(withoutHash), ...(cursor !== undefined && { cursor }) });
  if (found.length === 0) {
    output.print("No payment was found.");
    return 1;
  }
  printColumns(
    output,
    ["created (UTC)", "state", "amount", "order", "clientId", "provider"],
    found.map((one) => [
      one.createdAt.slice(0, 16).replace("T", " "),
      one.state,
      `${one.total.value} ${one.total.currency}`,
      one.reference,
      one.clientId,
      one.reported?.providerId ?? "",
    ]),
    ["created (UTC)", "state", "amount", "clientId", "provider"],
    found.map((one) => notesOf(one) && `${one.reference}: ${notesOf(one)}`),
  );
  return 0;
}

/** Returns the payment without the field `returnKeyHash`, which only the kit needs. */
function withoutHash({ returnKeyHash: _, ...payment }: Payment): Payment {
  return payment;
}
