import { type Payment, type PaymentHistory } from "../../index.js";
import { sameValue } from "../../model/money.js";
import { type RunAction } from "../terminal/actions.js";
import { type Arguments } from "../terminal/command.js";
import { byPerson, commandLine, databaseHint } from "../terminal/command-line.js";
import { oneLine, type Output } from "../terminal/output.js";
import { paymentsNamed, printPayments } from "./find.js";
import { notesOf } from "./notes-of.js";

/** Tells what happened to the payment that a text names, and what to do next. */
export const showPayment: RunAction = async (payments, args, { output }) => {
  const text = args.object!.trim();
  const [limit, cursor] = [args.get("limit"), args.get("cursor")];
  const page = { cursor, ...(limit !== undefined && { limit: Number(limit) }) };
  let history = await payments.history(text, page);
  if (!history.payment && history.entries.length === 0) {
    const found = await paymentsNamed(payments, text);
    if (found.length !== 1) {
      const code = printPayments(found, output);
      output.print(
        found.length > 0
          ? "\nGive show the clientId of one of these payments."
          : `No payment was found for ${text}. To search the webhooks too: ${commandLine(["payments", "find", text], args)}`,
      );
      return code === 0 ? 1 : code;
    }
    history = await payments.history(found[0]!.clientId, page);
  }
  output.printJson(history);
  printHistory(history, output);
  if (history.cursor !== undefined) output.print(`For older entries: --cursor ${history.cursor}`);
  if (cursor === undefined) printNext(history, args, output);
  return 0;
};

function printHistory({ clientId, payment, others, entries }: PaymentHistory, output: Output): void {
  if (payment) {
    const { state, reference, total } = payment;
    const notes = notesOf(payment);
    const why = notes && ` (${notes})`;
    output.print(
      `${output.paint("bold", clientId)}: order ${reference}, ${total.value} ${total.currency}, ${state}${why}`,
    );
  } else output.print(`The store has no payment ${clientId}, but these webhooks name the payment.`);
  for (const { at, text } of entries) output.print(oneLine(`${at}  ${text}`));
  for (const other of others)
    output.print(
      `Same order: ${other.clientId}, ${other.total.value} ${other.total.currency}, ${other.state}`,
    );
}

/** Prints what needs a person, or how a payment is completed that the service has not reported as paid. */
function printNext(history: PaymentHistory, args: Arguments, output: Output): void {
  const { clientId, payment, attention, entries } = history;
  for (const { why, next } of attention) {
    output.print(`\n${output.paint("bold", oneLine(why))}`);
    output.print(`  ${oneLine(next)}`);
  }
  if (attention.length > 0) {
    if (databaseHint(args)) output.print(databaseHint(args));
    return;
  }
  const isSettled = entries.some(({ kind }) => kind === "resolution");
  const decision = entries.findLast(({ kind }) => kind === "decision") as { outcome?: string } | undefined;
  if (!payment && decision?.outcome === "foreign")
    output.print("\nIt is another shop's payment: its clientId does not begin with this shop's prefix.");
  else if (!payment && !isSettled) {
    output.print(
      "\nIf the payment belongs to this shop, adopt the payment. If it belongs to another shop, dismiss the webhook:",
    );
    const receiptId = entries.flatMap((one) => (one.kind === "webhook" ? [one.receiptId] : []))[0]!;
    const adopt = ["--reference", "<order>", "--amount", "<amount>", "--currency", "<currency>"];
    output.print(`  ${commandLine(["payments", "adopt", clientId, ...adopt, ...byPerson], args)}`);
    output.print(`  ${commandLine(["resolve", "dismiss", "--receipt-id", receiptId, ...byPerson], args)}`);
  }
  if (payment && payment.state !== "completed") {
    output.print(
      "\nThe service has not reported this payment as paid. If a statement or a letter of the service shows that it is paid:",
    );
    output.print(`  ${acceptLine(payment, args)}`);
  }
  const { total, received = total, refunded = "0" } = payment ?? {};
  if (payment?.state === "completed" && !sameValue(refunded, received!.value)) {
    output.print("\nIf you send money back, record the amount:");
    const amount = ["--amount", "<amount>", "--key", "<transfer>", ...byPerson];
    output.print(`  ${commandLine(["payments", "refund", clientId, ...amount], args)}`);
  }
}

function acceptLine({ clientId, serviceId, total }: Payment, args: Arguments): string {
  const evidence = ["--evidence", "letter", "--document", "<where it is>", "--value", total.value];
  const service = serviceId === undefined ? ["--service-id", "<its id>"] : [];
  return commandLine(
    ["resolve", "accept", "--client-id", clientId, ...evidence, ...service, ...byPerson],
    args,
  );
}
