import { type Payment, type Payments, type PaymentState } from "../../index.js";
import { isAmount, sameValue } from "../../model/money.js";
import { type Action, runAction } from "../terminal/actions.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type ExitCode } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { type Output } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";
import { printColumns } from "../terminal/table.js";
import { timeOption } from "../terminal/option-values.js";
import { recordRefund, refundOptions } from "./refund.js";

const dayMs = 24 * 60 * 60 * 1000;
const maxPage = 500;
const maxFound = 100;

const paymentActions: Readonly<Record<string, Action>> = {
  find: { options: ["amount", "day"], object: "optional", run: find },
  show: { options: [], object: "needed", run: show },
  refund: {
    options: ["amount", "by", "reason", "key", "reversal", "evidence", "document", "apply"],
    object: "needed",
    run: recordRefund,
  },
  list: { options: ["state", "reference", "from", "to", "limit", "cursor"], object: "none", run: list },
};

export const paymentsCommand: CommandDefinition = {
  description: [
    "find takes anything that a customer has: the number of the order, the clientId, the number of the service or of the provider, " +
      "also one that only the customer has given, or the amount and the day. show tells everything that happened to one payment, oldest first. list selects by state and time.",
    "refund records money of a completed payment that went back: all that is left, or --amount of it. It sends no money. It shows what " +
      "it would record, and asks first. The same refund is recorded once. The application's own processes call the handlers.",
  ],
  operand: { name: "find|show|refund|list", summary: "What to do." },
  object: {
    name: "text",
    summary:
      "With find: an order, a clientId, a serviceId or a provider's number. With show and refund: a clientId.",
  },
  options: {
    ...databaseOptions,
    "--amount <value>":
      "With find: the amount that was asked for, such as 1475. Needs --day. With refund: how much went back.",
    "--day <day>": "With find: the UTC day on which the payment was made, such as 2024-05-01.",
    "--state <creating|pending|uncertain|failed|canceled|completed>": "With list: only these.",
    "--reference <text>": "With list: only those of this order.",
    "--from <time>": "With list: made at this time or later: a UTC day, or a time with its offset.",
    "--to <time>": "With list: made before this time.",
    "--limit <number>": "With list: 1 to 500 of them. Default: 50.",
    "--cursor <text>": "With list: the next page, as the page before names it.",
    ...refundOptions,
    ...envFileOption,
  },
  examples: {
    "a customer has only the number of the receipt": "tillkit payments find MVK-778 --store shop.db",
    "a customer has only the amount and the day":
      "tillkit payments find --amount 1475 --day 2026-11-20 --store shop.db",
    "what happened to a payment": "tillkit payments show c-1 --store shop.db",
    "half of it was sent back by mobile money":
      'tillkit payments refund c-1 --amount 700 --reason "one of two came back" --by Amina --store shop.db',
    "what is still open": "tillkit payments list --state pending --env-file .env",
  },
  exitCodes: {
    0: "Payments were found; the refund is recorded now, or was before.",
    1: "There are none; the refund was only shown.",
    2: "Used wrongly; nothing to look for or no database is given.",
    3: "The refund is refused; the database cannot be reached, or has no tables of the kit.",
  },
  run: (args, context) =>
    runAction(paymentActions, { command: "payments", needed: "<text>", refused: "<text>" }, args, context),
};

async function find(payments: Payments, args: Arguments, output: Output): Promise<ExitCode> {
  const text = args.object?.trim();
  const [amount, time] = [args.get("amount"), timeOption(args, "day")];
  const day = time && startOfDay(time);
  if (amount !== undefined && !day) throw optionError("--amount needs --day.");
  if (amount !== undefined && !isAmount(amount))
    throw optionError("--amount must be a decimal, such as 1475 or 10.50.");
  if (!text && !day)
    throw operandError("tillkit payments find needs <text>, or --day with or without --amount.");
  const isWanted = ({ createdAt, total }: Payment): boolean =>
    (!day || startOfDay(new Date(createdAt)).getTime() === day.getTime()) &&
    (amount === undefined || sameValue(total.value, amount));
  return print(
    text ? (await named(payments, text)).filter(isWanted) : await ofDay(payments, day!, isWanted),
    output,
  );
}

/** Returns the start of the UTC day. */
function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / dayMs) * dayMs);
}

/** Returns the payments that a text names, whatever it is the name of. */
async function named(payments: Payments, text: string): Promise<Payment[]> {
  const found = [
    await payments.find(text),
    await payments.find({ serviceId: text }),
    ...(await payments.list({ reference: text, limit: maxFound })).payments,
    ...(await payments.list({ providerId: text, limit: maxFound })).payments,
    ...(await payments.list({ claimed: text })).payments,
  ];
  return [...new Map(found.flatMap((one) => (one ? [[one.clientId, one] as const] : []))).values()];
}

async function ofDay(
  payments: Payments,
  day: Date,
  isWanted: (payment: Payment) => boolean,
): Promise<Payment[]> {
  const found: Payment[] = [];
  const to = new Date(day.getTime() + dayMs);
  for (let cursor: string | undefined; ;) {
    const page = await payments.list({ from: day, to, limit: maxPage, cursor });
    found.push(...page.payments.filter(isWanted));
    cursor = page.cursor;
    if (cursor === undefined) return found;
  }
}

async function list(payments: Payments, args: Arguments, output: Output): Promise<ExitCode> {
  const limit = args.get("limit");
  const page = await payments.list({
    state: args.get("state") as PaymentState | undefined,
    reference: args.get("reference"),
    from: timeOption(args, "from"),
    to: timeOption(args, "to"),
    cursor: args.get("cursor"),
    ...(limit !== undefined && { limit: Number(limit) }),
  });
  const code = print(page.payments, output, page.cursor);
  if (page.cursor !== undefined) output.print(`There are more: --cursor ${page.cursor}`);
  return code;
}

function print(found: readonly Payment[], output: Output, cursor?: string): ExitCode {
  output.printJson({ payments: found.map(withoutHash), ...(cursor !== undefined && { cursor }) });
  if (found.length === 0) {
    output.print("No payment was found.");
    return 1;
  }
  printColumns(
    output,
    ["created", "state", "amount", "order", "clientId", "provider"],
    found.map((one) => [
      `${one.createdAt.slice(0, 16)}Z`,
      one.state,
      `${one.total.value} ${one.total.currency}`,
      one.reference,
      one.clientId,
      one.reported?.providerId ?? "",
    ]),
  );
  return 0;
}

async function show(payments: Payments, args: Arguments, output: Output): Promise<ExitCode> {
  const clientId = args.object!;
  const history = await payments.history(clientId);
  const { payment, others, entries } = history;
  output.printJson(history);
  if (!payment && entries.length === 0) {
    output.print(`Nothing is stored about ${clientId}. tillkit payments find takes other numbers too.`);
    return 1;
  }
  if (payment) {
    const { state, reference, total, withheld, refunded } = payment;
    const notes = [withheld, refunded && `${refunded} refunded`].filter(Boolean).join(", ");
    const why = notes && ` (${notes})`;
    output.print(
      `${output.paint("bold", clientId)}: order ${reference}, ${total.value} ${total.currency}, ${state}${why}`,
    );
  } else output.print(`The store has no payment ${clientId}; these webhooks name it.`);
  for (const { at, text } of entries) output.print(`${at}  ${text}`);
  for (const other of others)
    output.print(
      `Same order: ${other.clientId}, ${other.total.value} ${other.total.currency}, ${other.state}`,
    );
  return 0;
}

/** Returns the payment without what only the kit needs. */
function withoutHash({ returnKeyHash: _, ...payment }: Payment): Payment {
  return payment;
}
