import { type Evidence, type Payments, type Refund, type Resolution, type Resolved } from "../../index.js";
import { restText } from "../../model/money.js";
import { type RunAction } from "../terminal/actions.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments } from "../terminal/command.js";
import { confirms } from "../terminal/confirm.js";
import { clientIdNamed, wholeHistory } from "./find.js";
import { requiredOption, requiredOptions } from "../terminal/option-values.js";
import { oneLine } from "../terminal/output.js";

/** The options of a refund. */
export const refundOptions = {
  "--key <text>":
    "With refund: the number of the transfer that sent the money back. The history shows the number, and a repeated call " +
    "with the number records nothing. Default: the amount, and the document or the reason.",
  "--reversal": "With refund: the service or the provider took the money back.",
  "--evidence <statement|lookup|letter>":
    "With refund: the kind of evidence for the refund. Requires --document and --amount.",
  "--document <text>": "With refund: where the evidence is, such as a file and a line number.",
};

/** Prints the refund, and records it with `--apply` or after the answer yes on standard input. */
export const recordRefund: RunAction = async (payments, args, context) => {
  const { output } = context;
  const given = await readRefund(payments, args);
  const would = await payments.resolve({ ...given, dryRun: true });
  const { payment, resolution: planned } = would;
  if (would.resolved) {
    output.print(`${given.clientId}, order ${payment!.reference}: ${describeRefund(planned.refund)}.`);
    // The same transfer may be recorded already with another key, or without a key, so the person sees all
    // earlier refunds.
    const { entries } = await wholeHistory(payments, payment!.clientId);
    for (const one of entries)
      if (one.kind === "resolution" && one.refund)
        output.print(
          oneLine(
            `Another refund is recorded already, by ${one.by} at ${one.at}: ${describeRefund(one.refund)}.`,
          ),
        );
  }
  const isWanted =
    would.resolved && (args.has("apply") || (await confirms("Record this refund?", args, context)));
  const { resolution, resolved }: Resolved = isWanted ? await payments.resolve(given) : would;
  output.printJson({ resolution, resolved: isWanted && resolved, dryRun: resolved && !isWanted });
  if (isWanted && resolved) output.print("The refund is recorded now.");
  else if (resolved) output.print("Nothing was recorded; --apply records the refund.");
  else {
    const { by, at, reason, refund: before } = resolution;
    output.print(oneLine(`It was recorded before, by ${by} at ${at}: ${describeRefund(before)}: ${reason}`));
  }
  return resolved && !isWanted ? 1 : 0;
};

/** Returns a description of a refund for people. */
export function describeRefund(refund: Refund | undefined): string {
  if (!refund) return "all of it went back";
  const { kind, amount, before, rest, key } = refund;
  const named = key === undefined ? "" : `, key ${key}`;
  return oneLine(
    `${kind} of ${amount.value} of ${before.value} ${amount.currency}, ${restText(rest)}${named}`,
  );
}

async function readRefund(payments: Payments, args: Arguments): Promise<Resolution> {
  const clientId = await clientIdNamed(payments, args.object!);
  const [amount, kind, document] = ["amount", "evidence", "document"].map((name) => args.get(name));
  if ((kind === undefined) !== (document === undefined))
    throw optionError("Give both --evidence and --document, or neither of them.");
  const person = requiredOptions(args, ["by", "reason"]);
  const given = { action: "refunded", clientId, amount, key: args.get("key"), ...person } as const;
  const refund = { ...given, ...(args.has("reversal") && { reversal: true }) };
  if (kind === undefined) return refund;
  const { total, received = total } = (await payments.find(clientId)) ?? {};
  const value = requiredOption(args, "amount");
  const shown = { value, currency: received?.currency ?? "" };
  return { ...refund, evidence: { kind: kind as Evidence["kind"], document: document!, total: shown } };
}
