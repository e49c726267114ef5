import { type Money, type Payment, type PaymentHistory, type Payments } from "../../index.js";
import { sameValue } from "../../model/money.js";
import { readMessage } from "../../webhook/message/read-message.js";
import { type RunAction } from "../terminal/actions.js";
import { type Arguments } from "../terminal/command.js";
import { byPerson, commandLine, stepLines } from "../terminal/command-line.js";
import { decimalOption } from "../terminal/option-values.js";
import { oneLine, type Output } from "../terminal/output.js";
import { paymentsLike, printPayments } from "./find.js";
import { notesOf } from "./notes-of.js";

/** The maximum number of payments whose open entries are printed, if a text names several payments. */
const maxShown = 10;

/** Prints the history of the payment that a text names, and the next steps. */
export const showPayment: RunAction = async (payments, args, { output }) => {
  const text = args.object!;
  const [limit, cursor] = [decimalOption(args, "limit"), args.get("cursor")];
  const page = { cursor, ...(limit !== undefined && { limit }) };
  let history = await payments.history(text, page);
  if (!history.payment && history.entries.length === 0) {
    const found = await paymentsLike(payments, text);
    if (found.length !== 1) {
      const code = printPayments(found, output);
      for (const { clientId } of found.slice(0, maxShown))
        printAttention(await payments.history(clientId, { limit: 1 }), args, output, `${clientId}: `);
      output.print(
        found.length > 0
          ? `\nFor the history: ${commandLine(["payments", "show", "<clientId>"], args)}`
          : `To search the webhooks too: ${commandLine(["payments", "find", text], args)}`,
      );
      return code === 0 ? 1 : code;
    }
    history = await payments.history(found[0]!.clientId, page);
  }
  output.printJson(history);
  const total = history.payment ? undefined : await reportedAmount(payments, history.clientId);
  printHistory(history, total, output);
  if (history.cursor !== undefined) output.print(`For older entries: --cursor ${history.cursor}`);
  if (cursor === undefined) printNext(history, total, args, output);
  return 0;
};

/** Returns the amount in the oldest webhook of a payment that the store does not have. */
async function reportedAmount(payments: Payments, clientId: string): Promise<Money | undefined> {
  const [webhook] = await payments.store.webhooks({ clientId, limit: 1 });
  const message = webhook && webhook.kind !== "lookup" ? readMessage(webhook) : undefined;
  if (message?.kind !== "payment") return undefined;
  return { value: message.verified["total.value"], currency: message.verified["total.currency"] };
}

function printHistory(
  { clientId, payment, others, entries }: PaymentHistory,
  reported: Money | undefined,
  output: Output,
): void {
  if (payment) {
    const { state, reference, total } = payment;
    const notes = notesOf(payment);
    const why = notes && ` (${notes})`;
    output.print(
      `${output.paint("bold", clientId)}: order ${reference}, ${total.value} ${total.currency}, ${state}${why}`,
    );
  } else {
    const about = reported ? `${clientId} of ${reported.value} ${reported.currency}` : clientId;
    output.print(`The store has no payment ${about}, but these webhooks name the payment.`);
  }
  for (const { at, text } of entries) output.print(oneLine(`${at}  ${text}`));
  for (const other of others)
    output.print(
      `Same order: ${other.clientId}, ${other.total.value} ${other.total.currency}, ${other.state}`,
    );
}

/** Prints the open entries of a payment. Returns whether there are any. */
function printAttention({ attention }: PaymentHistory, args: Arguments, output: Output, name = ""): boolean {
  for (const { rule, why, next } of attention) {
    output.print(`\n${output.paint("bold", oneLine(name + why))}`);
    for (const line of stepLines(next, args)) output.print(`  ${oneLine(line)}`);
    if (rule === "overdue" || rule === "creation_uncertain" || rule === "claimed")
      output.print(`  To look in a statement:\n    ${statementLine(args)}`);
  }
  return attention.length > 0;
}

/** Prints the open entries. If there are none, prints the commands for the payment's next steps. */
function printNext(
  history: PaymentHistory,
  reported: Money | undefined,
  args: Arguments,
  output: Output,
): void {
  const { clientId, payment, entries } = history;
  if (printAttention(history, args, output)) return;
  const isSettled = entries.some(({ kind }) => kind === "resolution");
  const decision = entries.findLast(({ kind }) => kind === "decision") as { outcome?: string } | undefined;
  if (!payment && decision?.outcome === "foreign")
    output.print("\nIt is another shop's payment: its clientId does not begin with this shop's prefix.");
  else if (!payment && !isSettled) {
    output.print(
      "\nIf the payment belongs to this shop, adopt the payment. If it belongs to another shop, dismiss the webhook:",
    );
    const receiptId = entries.flatMap((one) => (one.kind === "webhook" ? [one.receiptId] : []))[0]!;
    const { value = "<amount>", currency = "<code>" } = reported ?? {};
    const adopt = ["--reference", "<order>", "--amount", value, "--currency", currency];
    output.print(`  ${commandLine(["payments", "adopt", clientId, ...adopt, ...byPerson], args)}`);
    output.print(`  ${commandLine(["resolve", "dismiss", "--receipt-id", receiptId, ...byPerson], args)}`);
  }
  if (payment && payment.state !== "completed") {
    output.print(
      "\nThe service has not reported this payment as paid. If a statement or a letter of the service shows that it is paid:",
    );
    output.print(`  ${acceptLine(payment, args)}`);
    output.print(`To look in a statement:\n  ${statementLine(args)}`);
  }
  const { total, received = total, refunded = "0" } = payment ?? {};
  if (payment?.state === "completed" && !sameValue(refunded, received!.value)) {
    output.print("\nIf you send money back, record the amount:");
    const amount = ["--amount", "<amount>", "--key", "<transfer>", ...byPerson];
    output.print(`  ${commandLine(["payments", "refund", clientId, ...amount], args)}`);
  }
}

function statementLine(args: Arguments): string {
  return commandLine(["statement", "<file>"], args);
}

function acceptLine({ clientId, serviceId, total }: Payment, args: Arguments): string {
  const evidence = ["--evidence", "letter", "--document", "<where>", "--value", total.value];
  const service = serviceId === undefined ? ["--service-id", "<id>"] : [];
  return commandLine(
    ["resolve", "accept", "--client-id", clientId, ...evidence, ...service, ...byPerson],
    args,
  );
}
