import { type Action, runAction, type RunAction } from "../terminal/actions.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { envFileOption } from "../terminal/read-file.js";
import { adopt } from "./adopt.js";
import { exportHistories, queryOf, selection } from "./export.js";
import { find, printPayments } from "./find.js";
import { recordRefund, refundOptions } from "./refund.js";
import { showPayment } from "./show.js";

const list: RunAction = async (payments, args, { output }) => {
  const limit = args.get("limit");
  const page = await payments.list({
    ...queryOf(args),
    cursor: args.get("cursor"),
    ...(limit !== undefined && { limit: Number(limit) }),
  });
  const code = printPayments(page.payments, output, page.cursor);
  if (page.cursor !== undefined) output.print(`There are more: --cursor ${page.cursor}`);
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
    options: ["reference", "amount", "currency", "service-id", "confirm", "by", "reason", "apply"],
    object: "needed",
    run: adopt,
  },
  list: { options: [...selection, "limit", "cursor"], object: "none", run: list },
  export: { options: selection, object: "optional", run: exportHistories },
};

export const paymentsCommand: CommandDefinition = {
  description: [
    "find takes one thing that a customer has: the number of the order, the clientId, the number of the " +
      "service or of the provider, or the amount and the day. It also finds the number that a customer gave " +
      "after the payment, even if the service never reported it. show prints the history of one payment " +
      "with the oldest entry first, and the next step. Of a long history it prints the newest entries. list " +
      "selects payments by state and time.",
    "refund records a refund of a completed payment: everything that is left, or --amount of it. It sends " +
      "no money. adopt stores a payment of this shop that other code created at the service, and matches " +
      "its webhooks. Both show what they would record, and ask first. They record the same refund or " +
      "payment only once. The application's own processes call the handlers.",
    "export writes the histories of the selected payments, with every action of a person: who did it, " +
      "when and why, and the state before and after. It writes CSV with a line for each entry, or with " +
      "--json a document for each payment.",
  ],
  operand: { name: "find|show|refund|adopt|list|export", summary: "What to do." },
  object: {
    name: "text",
    summary:
      "An order, a clientId, a serviceId or a provider's number; show, refund and export need one that names a single payment. With adopt: the clientId.",
  },
  options: {
    ...databaseOptions,
    "--amount <value>":
      "With find: the amount that was asked for or paid, such as 1475. Needs --day. With refund: how much went back. With adopt: the amount to pay.",
    "--day <day>": "With find: the UTC day on which the payment was made, such as 2024-05-01.",
    "--state <creating|pending|uncertain|failed|canceled|completed>": "With list and export: only these.",
    "--reference <text>": "With list and export: only those of this order. With adopt: its order.",
    "--from <time>":
      "With list and export: made at this time or later: a UTC day, or a time with its offset.",
    "--to <time>": "With list and export: made before this time.",
    "--limit <number>":
      "With list: 1 to 500 of them. Default: 50. With show: 1 to 1000 of each kind. Default: 1000.",
    "--cursor <text>": "With list and show: the next page, as the page before names it.",
    "--by <name>": "With refund and adopt: who records it.",
    "--reason <text>": "With refund and adopt: why, for readers of the history.",
    "--currency <code>": "With adopt: the currency of --amount, such as KMF.",
    "--service-id <id>": "With adopt: the service's id of the payment. Default: its webhook says it.",
    "--confirm <lookup|none>":
      "With adopt: the application's `confirm`, where its webhooks are signed over fields. Default: TILLKIT_CONFIRM.",
    ...refundOptions,
    "--apply": "With refund and adopt: records it without a question.",
    ...envFileOption,
  },
  examples: {
    "a customer has only the number of the receipt": "tillkit payments find MVK-778 --store shop.db",
    "a customer has only the amount and the day":
      "tillkit payments find --amount 1475 --day 2026-11-20 --store shop.db",
    "what happened to a payment, and what to do": "tillkit payments show order-7 --store shop.db",
    "half of it was sent back by mobile money":
      'tillkit payments refund c-1 --amount 700 --reason "one of two came back" --by Amina --store shop.db',
    "a webhook names a payment that the old shop created":
      'tillkit payments adopt old-77 --reference order-7 --amount 3000 --currency KMF --reason "of the old shop" --by Amina --store shop.db',
    "what is still open": "tillkit payments list --state pending --env-file .env",
    "for the accountant":
      "tillkit payments export --from 2026-11-01 --to 2026-12-01 --store shop.db > november.csv",
  },
  exitCodes: {
    0: "Payments were found; the refund or the payment is recorded now, or was before.",
    1: "There are none, or show found several; the change was only shown.",
    2: "Used wrongly; nothing to look for or no database is given.",
    3: "The change is refused; the database cannot be reached, or has no tables of the kit.",
  },
  run: (args, context) =>
    runAction(paymentActions, { command: "payments", needed: "<text>", refused: "<text>" }, args, context),
};
