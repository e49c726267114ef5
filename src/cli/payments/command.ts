import { type Action, runAction, type RunAction } from "../terminal/actions.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { decimalOption } from "../terminal/option-values.js";
import { envFileOption } from "../terminal/read-file.js";
import { adopt, adoptionOptions } from "./adopt.js";
import { exportHistories, queryOf, selection } from "./export.js";
import { find, printPayments } from "./find.js";
import { recordRefund, refundOptions } from "./refund.js";
import { showPayment } from "./show.js";

const list: RunAction = async (payments, args, { output }) => {
  const limit = decimalOption(args, "limit");
  const page = await payments.list({
    ...queryOf(args),
    cursor: args.get("cursor"),
    ...(limit !== undefined && { limit }),
  });
  const code = printPayments(page.payments, output, page.cursor);
  if (page.cursor !== undefined) output.print(`For more payments: --cursor ${page.cursor}`);
  return code;
};

const paymentActions: Readonly<Record<string, Action>> = {
  find: { options: ["amount", "day"], object: "optional", run: find },
  show: { options: ["limit", "cursor"], object: "needed", run: showPayment },
  refund: {
    options: ["amount", "by", "reason", "key", "reversal", "evidence", "document", "apply"],
    object: "needed",
    run: recordRefund,
  },
  adopt: {
    options: [...adoptionOptions, "service-id", "confirm", "apply", "despite-mismatch"],
    object: "needed",
    run: adopt,
  },
  list: { options: [...selection, "limit", "cursor"], object: "none", run: list },
  export: { options: selection, object: "optional", run: exportHistories },
};

export const paymentsCommand: CommandDefinition = {
  description: [
    "`find` searches by one thing that a customer knows: the order number, the clientId, the service's " +
      "or the provider's number, or the amount and the day. `find` also matches the numbers that " +
      "customers entered on the return page.",
    "`show` prints the history of one payment, and the next step. If the history is long, `show` prints " +
      "its newest entries. `list` selects payments by state and time.",
    "`refund` records a refund of a completed payment: the whole remaining amount, or the part in " +
      "--amount. `refund` sends no money.",
    "`adopt` stores a payment of this shop that other code created at the service, and matches the " +
      "payment's webhooks.",
    "`refund` and `adopt` show what they would record, and ask first. A repeated `refund` or `adopt` " +
      "records nothing new. The application's own processes call the handlers.",
    "`export` writes the histories of the selected payments as CSV, with a line for each entry. With " +
      "--json, `export` writes a document for each payment. For every action of a person, a history shows " +
      "who did it, when and why, and the state before and after.",
  ],
  operand: { name: "find|show|refund|adopt|list|export", summary: "The action." },
  object: {
    name: "text",
    summary:
      "An order, a clientId, a serviceId or a provider's number. For show, refund and export, this text must name a " +
      "single payment. With adopt: the clientId.",
  },
  options: {
    ...databaseOptions,
    "--amount <value>":
      "With find: the requested or paid amount, such as 1475; requires --day. With refund: the amount that was " +
      "returned. With adopt: the amount to pay.",
    "--day <day>": "With find: the UTC day on which the payment was created, such as 2024-05-01.",
    "--state <creating|pending|uncertain|failed|canceled|completed>":
      "With list and export: selects payments in this state.",
    "--reference <text>":
      "With list and export: selects the payments of this order. With adopt: the payment's order.",
    "--from <time>":
      "With list and export: selects payments created at this time or later: a UTC day, or a time with an offset.",
    "--to <time>": "With list and export: selects payments created before this time.",
    "--limit <number>":
      "With list: the number of payments, 1 to 500. Default: 50. With show: the number of entries of each kind, 1 to " +
      "1000. Default: 1000.",
    "--cursor <text>": "With list and show: the cursor of the next page, as the previous page prints it.",
    "--by <name>": "With refund and adopt: the name of the person who records the refund or the payment.",
    "--reason <text>": "With refund and adopt: the reason, for readers of the history.",
    "--currency <code>": "With adopt: the currency of --amount, such as KMF.",
    "--service-id <id>":
      "With adopt: the payment's id at the service. Default: the id in the payment's webhook.",
    "--confirm <lookup|none>":
      "With adopt: the application's option `confirm`, if webhooks are signed over fields. Default: TILLKIT_CONFIRM.",
    ...refundOptions,
    "--apply": "With refund and adopt: records the refund or the payment without asking you.",
    "--despite-mismatch": "With adopt and --apply: adopts the payment even if a webhook does not match.",
    ...envFileOption,
  },
  examples: {
    "find the payment of a customer who has only the receipt number":
      "tillkit payments find MVK-778 --store shop.db",
    "find the payment of a customer who knows only the amount and the day":
      "tillkit payments find --amount 1475 --day 2026-11-20 --store shop.db",
    "show what happened to a payment, and the next step": "tillkit payments show order-7 --store shop.db",
    "record that half of the amount was sent back by mobile money":
      'tillkit payments refund c-1 --amount 700 --reason "one of two came back" --by Amina --store shop.db',
    "adopt a payment that the old shop created and that a webhook names":
      'tillkit payments adopt old-77 --reference order-7 --amount 3000 --currency KMF --reason "of the old shop" --by Amina --store shop.db',
    "list the payments that are still open": "tillkit payments list --state pending --env-file .env",
    "export a month for the accountant":
      "tillkit payments export --from 2026-11-01 --to 2026-12-01 --store shop.db > november.csv",
  },
  exitCodes: {
    0: "The command found payments, or the refund or the payment is recorded now or was recorded before.",
    1: "No payment was found, show found several payments, or the change was only shown.",
    2: "The command was used wrongly, or no text or no database is given.",
    3: "The change is refused, or the database cannot be reached or has no tables of the kit.",
  },
  run: (args, context) =>
    runAction(paymentActions, { command: "payments", needed: "<text>", refused: "<text>" }, args, context),
};
