import { type Payments, type Replayed, type ReplayQuery, type WebhookRequest } from "../../index.js";
import { makeScheme } from "../sign/make-scheme.js";
import { readVerifyingSettings, verifyingOptions } from "../sign/signature-settings.js";
import { optionError } from "../terminal/arguments.js";
import {
  type Arguments,
  type CommandDefinition,
  type Context,
  type ExitCode,
  readOption,
} from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import {
  confirmNeeded,
  givenPolicy,
  type GivenPolicy,
  withOfflineKit,
  policyOptions,
} from "../terminal/offline-kit.js";
import { oneLine, type Output } from "../terminal/output.js";
import { readBytes } from "../terminal/read-file.js";
import { requiredOptions, timeOption } from "../terminal/option-values.js";
import { joinedHeader, readCapturedRequest } from "../verify/read-input.js";

/** An outcome of a stored webhook. Duplicates are not stored. */
type StoredOutcome = NonNullable<ReplayQuery["outcome"]>;

/** The names of the options that are allowed only with a file. */
const signatureNames = Object.entries(verifyingOptions)
  .map((option) => readOption(option).name)
  .filter((name) => name !== "env-file");

const outcomeChoices = "applied|stale|mismatch|unmatched|unconfirmed|foreign|unrecognised|inadmissible";

export const replayCommand: CommandDefinition = {
  description: [
    "Decides the outcomes of stored webhooks again, with the current payments. Run this command after " +
      "you adopted payments, corrected a prefix, or updated the kit. The command does not verify the " +
      "signatures of stored webhooks again. A webhook that was applied stays applied.",
    "With a file, the command verifies a refused webhook that the kit kept, and records the webhook as " +
      "if the service had sent the webhook again. Use a file after you corrected the secret.",
    "Without --apply, the command only prints the changes.",
  ],
  operand: {
    name: "file",
    summary: "A file in the directory of webhook.keepRefused, instead of the stored webhooks.",
    optional: true,
  },
  options: {
    ...databaseOptions,
    "--apply": "Makes the changes, instead of only printing them. Requires --by and --reason.",
    "--by <name>": "The name of the person who makes the changes.",
    "--reason <text>": "The reason, for readers of the payments' histories.",
    "--client-id <id>": "Selects the webhooks of the payment with this clientId.",
    "--receipt-id <id>": "Selects the webhook with this receiptId.",
    [`--outcome <${outcomeChoices}>`]: "Selects the webhooks whose stored outcome is this one.",
    "--from <time>":
      "Selects the webhooks received at this time or later: a UTC day, or a time with an offset.",
    "--to <time>": "Selects the webhooks received before this time.",
    ...policyOptions,
    ...verifyingOptions,
  },
  examples: {
    "show which webhooks would get another outcome now": "tillkit replay --store shop.db",
    "show what another prefix of the shop's clientIds would change":
      "tillkit replay --outcome foreign --client-id-prefix shop- --env-file .env",
    "make the changes after you corrected the prefix of the shop's clientIds":
      'tillkit replay --outcome foreign --by Amina --reason "wrong prefix" --apply --env-file .env',
    "record a refused webhook that the kit kept":
      'tillkit replay refused/1.http --by Amina --reason "wrong secret" --apply --env-file .env',
  },
  exitCodes: {
    0: "The changes were made, or there is nothing to change.",
    1: "Without --apply: --apply would change something.",
    2: "The command was used wrongly, or no database is named.",
    3: "The signature of the file does not match, the file cannot be read, or the database cannot be used.",
  },
  async run(args, context) {
    const policy = givenPolicy(args, context);
    const kept = await readRefused(args, context);
    const replay = async (payments: Payments): Promise<ExitCode> => {
      const changed = await replayStoredWebhooks(payments, args, context.output, policy, kept?.refused);
      if (changed === 0 || args.has("apply")) return 0;
      context.output.print("Nothing was changed; --apply makes the changes.");
      return 1;
    };
    return withOfflineKit(args, context, replay, policy, kept?.signature);
  },
};

/** Reads the refused webhook of the operand, and the scheme that verifies it. */
async function readRefused(args: Arguments, context: Context) {
  if (args.operand === undefined) {
    const needless = signatureNames.find((name) => args.has(name));
    if (needless !== undefined) throw optionError(`--${needless} can only be used with a file.`);
    return undefined;
  }
  const signature = makeScheme(await readVerifyingSettings(args, context));
  const { headers, rawBody } = readCapturedRequest(await readBytes(args.operand, context));
  const given = joinedHeader(headers, signature.header);
  return {
    signature,
    refused: { rawBody, headers: given === undefined ? {} : { [signature.header]: given } },
  };
}

async function replayStoredWebhooks(
  payments: Payments,
  args: Arguments,
  output: Output,
  policy: GivenPolicy,
  refused: WebhookRequest | undefined,
): Promise<number> {
  const dryRun = !args.has("apply");
  const person = dryRun ? {} : requiredOptions(args, ["by", "reason"]);
  const query: ReplayQuery = {
    ...person,
    clientId: args.get("client-id"),
    receiptId: args.get("receipt-id"),
    outcome: args.get("outcome") as StoredOutcome | undefined,
    from: timeOption(args, "from"),
    to: timeOption(args, "to"),
    refused,
  };
  const replay = (dryRun: boolean): Promise<Replayed> =>
    payments.replay({
      ...query,
      dryRun,
      onProgress: ({ looked, changed }) =>
        output.draw(`${looked} webhooks read, ${changed} with another outcome`),
    });
  let found: Promise<Replayed> | undefined;
  const examine = (): Promise<Replayed> => (found ??= replay(true));
  const unknown = await findUnknownPolicy(payments, query, policy, examine);
  output.draw(undefined);
  if (unknown !== undefined && !dryRun) throw optionError(unknown);
  if (unknown !== undefined) output.log(unknown);
  const replayed = await (dryRun ? examine() : replay(false));
  const { looked, forgotten, changed, changes } = replayed;
  output.draw(undefined);
  output.printJson(replayed);
  for (const { receivedAt, clientId = "no payment", from, to, reason, state } of changes) {
    const moved = state ? `, payment ${state.from} → ${output.paint("bold", state.to)}` : "";
    output.print(`${receivedAt}  ${clientId}  ${from} → ${output.paint("bold", to)}${moved}`);
    if (reason !== undefined) output.print(`  ${output.paint("dim", oneLine(reason))}`);
  }
  if (changed > changes.length) output.print(`… and ${changed - changes.length} more.`);
  const pruned =
    forgotten > 0 ? ` ${forgotten} webhooks stay unchanged, because their bodies were pruned.` : "";
  const were = dryRun ? "would be" : "were";
  if (!refused) output.print(`${looked} webhooks read; ${changed} ${were} decided differently.${pruned}`);
  else if (changed === 0) output.print("This webhook is recorded already.");
  return changed;
}

/**
 * Searches for webhooks that a replay could decide wrongly, because this command does not have the
 * application's policy. Returns advice about the missing option, or `undefined`.
 */
async function findUnknownPolicy(
  payments: Payments,
  query: ReplayQuery,
  { confirm, clientIdPrefix }: GivenPolicy,
  examine: () => Promise<Replayed>,
): Promise<string | undefined> {
  const policies = [
    { outcome: "unconfirmed", given: confirm, option: "--confirm=lookup", without: "--confirm=none" },
    {
      outcome: "foreign",
      given: clientIdPrefix,
      option: "--client-id-prefix",
      without: '--client-id-prefix=""',
    },
  ] as const;
  // A refused webhook has no outcome yet.
  for (const { outcome, given, option, without } of query.refused ? [] : policies) {
    if (given !== undefined || (query.outcome !== undefined && query.outcome !== outcome)) continue;
    const { changed } = await payments.replay({ ...query, outcome, dryRun: true });
    if (changed > 0)
      return (
        `${changed} webhooks are ${outcome} by a policy of the application, and would be decided without it. ` +
        `Give the application's ${option}, or ${without} if the application has no such policy.`
      );
  }
  const { changes } = await examine();
  if (clientIdPrefix === undefined && changes.some(({ to }) => to === "unmatched"))
    return (
      "A webhook names no stored payment, and may belong to another shop. Give the application's --client-id-prefix, or " +
      '--client-id-prefix="" if the application has no prefix.'
    );
  return confirm === undefined ? findUnconfirmed(payments, await examine()) : undefined;
}

/** Searches for a webhook that is signed over fields, and would complete its payment without a lookup. */
async function findUnconfirmed(
  payments: Payments,
  { changed, changes }: Replayed,
): Promise<string | undefined> {
  for (const { receiptId, from, state } of changes) {
    if (state?.to !== "completed") continue;
    const isFile = from === "refused";
    const stored = isFile ? [] : await payments.store.webhooks({ receiptId, limit: 1 });
    const covers = isFile ? payments.options.signature.covers : stored[0]?.covers;
    if (covers !== undefined && covers !== "body")
      return (
        `The webhook ${isFile ? "in the file" : receiptId} would complete its payment, and its signature covers only fields, ` +
        confirmNeeded
      );
  }
  // Not every changed webhook is listed, and an unlisted one may complete its payment.
  if (changed > changes.length)
    return (
      `${changed} webhooks would be decided differently, and only ${changes.length} of them were examined. Another one may ` +
      "complete its payment, with a signature that covers only fields, " +
      confirmNeeded
    );
  return undefined;
}
