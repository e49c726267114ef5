import {
  type DispatchQuery,
  type EventType,
  type Payments,
  type ReplayQuery,
  type RevivedDispatches,
} from "../../index.js";
import { isDateTime } from "../../shared/date-time.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { givenPolicy, type GivenPolicy, openOfflineKit, policyOptions } from "../terminal/offline-kit.js";
import { type Output } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";

/** The outcome that a webhook is stored with. Duplicates are counted, and not stored. */
type StoredOutcome = NonNullable<ReplayQuery["outcome"]>;

const outcomeChoices = "applied|stale|mismatch|unmatched|unconfirmed|foreign|unrecognised|inadmissible";

export const replayCommand: CommandDefinition = {
  description: [
    "Reads stored webhooks, each with the fields that its signature covered when it was verified, and decides them again " +
      "with the payments as they are now: after payments were adopted, a prefix was corrected, or the kit was updated. Without " +
      "--apply it only prints what would change. A change that was applied is never undone.",
    "With --dead it gives dispatches that have no attempts left all of their attempts again; the application's own processes " +
      "run them.",
  ],
  options: {
    ...databaseOptions,
    "--apply": "Makes the changes, instead of only printing them.",
    "--client-id <id>": "Only the webhooks of this payment.",
    "--receipt-id <id>": "Only this webhook.",
    [`--outcome <${outcomeChoices}>`]: "Only webhooks that are stored with this outcome.",
    "--from <time>": "Only webhooks received at this time or later: a UTC day, or a time with its offset.",
    "--to <time>": "Only webhooks received before this time.",
    ...policyOptions,
    "--dead": "Dead dispatches instead of webhooks.",
    "--handler <name>": "With --dead: only those of this handler.",
    "--event <type>": "With --dead: only those of events of this type.",
    "--event-id <id>": "With --dead: only those of this one event.",
    ...envFileOption,
  },
  examples: {
    "which webhooks would be decided differently now": "tillkit replay --store shop.db",
    "after the prefix of the shop's clientIds was corrected":
      "tillkit replay --outcome foreign --apply --env-file .env",
    "a handler was fixed: run its dead dispatches again":
      "tillkit replay --dead --handler books --apply --store shop.db",
  },
  exitCodes: {
    0: "The changes were made, or there is nothing to change.",
    1: "Without --apply: something would change.",
    2: "Used wrongly; no database is named.",
    3: "The database cannot be reached, or has no tables of the kit.",
  },
  async run(args, context) {
    const isDead = args.has("dead");
    const [wrong] = (isDead ? webhookOptions : dispatchOptions).filter((name) => args.has(name));
    if (wrong !== undefined)
      throw optionError(`--${wrong} ${isDead ? "cannot be used" : "can only be used"} with --dead.`);
    const policy = givenPolicy(args, context);
    const payments = await openOfflineKit(args, context, policy);
    try {
      const changed = isDead
        ? await replayDeadDispatches(payments, args, context.output)
        : await replayStoredWebhooks(payments, args, context.output, policy);
      if (changed === 0 || args.has("apply")) return 0;
      context.output.print("Nothing was changed; --apply makes the changes.");
      return 1;
    } finally {
      await payments.close();
    }
  },
};

const webhookOptions = [
  "client-id",
  "receipt-id",
  "outcome",
  "from",
  "to",
  "confirm",
  "client-id-prefix",
] as const;
const dispatchOptions = ["handler", "event", "event-id"] as const;

async function replayStoredWebhooks(
  payments: Payments,
  args: Arguments,
  output: Output,
  policy: GivenPolicy,
): Promise<number> {
  const dryRun = !args.has("apply");
  const query: ReplayQuery = {
    clientId: args.get("client-id"),
    receiptId: args.get("receipt-id"),
    outcome: args.get("outcome") as StoredOutcome | undefined,
    from: timeOption(args, "from"),
    to: timeOption(args, "to"),
  };
  const unknown = await findUnknownPolicy(payments, query, policy);
  if (unknown !== undefined && !dryRun) throw optionError(unknown);
  if (unknown !== undefined) output.log(unknown);
  const replayed = await payments.replay({
    ...query,
    dryRun,
    onProgress: ({ looked, changed }) =>
      output.draw(`${looked} webhooks read, ${changed} decided differently`),
  });
  const { looked, forgotten, changed, changes } = replayed;
  output.draw(undefined);
  output.printJson(replayed);
  for (const { receivedAt, clientId = "no payment", from, to, reason, state } of changes) {
    const moved = state ? `, payment ${state.from} → ${output.paint("bold", state.to)}` : "";
    output.print(`${receivedAt}  ${clientId}  ${from} → ${output.paint("bold", to)}${moved}`);
    if (reason !== undefined) output.print(`  ${output.paint("dim", reason)}`);
  }
  if (changed > changes.length) output.print(`… and ${changed - changes.length} more.`);
  const pruned = forgotten > 0 ? ` ${forgotten} stay as they are: their bodies were pruned.` : "";
  const were = dryRun ? "would be" : "were";
  output.print(`${looked} webhooks read; ${changed} ${were} decided differently.${pruned}`);
  return changed;
}

/**
 * Looks for a webhook that the application decided by a policy which nobody has given here, and that would be decided otherwise. Returns
 * what to do, or `undefined`.
 */
async function findUnknownPolicy(
  payments: Payments,
  query: ReplayQuery,
  { confirm, clientIdPrefix }: GivenPolicy,
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
  for (const { outcome, given, option, without } of policies) {
    if (given !== undefined || (query.outcome !== undefined && query.outcome !== outcome)) continue;
    const { changed } = await payments.replay({ ...query, outcome, dryRun: true });
    if (changed > 0)
      return (
        `${changed} webhooks are ${outcome} by a policy of the application, and would be decided without it. ` +
        `Give the application's ${option}, or ${without} if that is meant.`
      );
  }
  return undefined;
}

async function replayDeadDispatches(payments: Payments, args: Arguments, output: Output): Promise<number> {
  const query: DispatchQuery = {
    handler: args.get("handler"),
    type: args.get("event") as EventType | undefined,
    eventId: args.get("event-id"),
  };
  const dryRun = !args.has("apply");
  const found: RevivedDispatches["dispatches"] = [];
  for (let more = true; more;) {
    const revived = await payments.replayDispatches({ ...query, dryRun });
    found.push(...revived.dispatches);
    output.draw(`${found.length} dispatches`);
    // A dry run changes nothing, so it would find the same dispatches again.
    more = revived.more && !dryRun;
    if (revived.more && dryRun) output.log("There are more; these are the first 500.");
  }
  output.draw(undefined);
  output.printJson({ dryRun, dispatches: found });
  for (const { settledAt = "", type, clientId = "no payment", handler, error = "" } of found)
    output.print(`${settledAt}  ${type}  ${clientId}  ${output.paint("bold", handler)}  ${error}`);
  output.print(`${found.length} dead dispatches ${dryRun ? "would run" : "run"} again.`);
  return found.length;
}

function timeOption(args: Arguments, name: "from" | "to"): Date | undefined {
  const text = args.get(name);
  if (text === undefined) return undefined;
  // JavaScript takes a time without an offset for one of this machine's zone, and "1/5/26" for a time.
  const full = /T/i.test(text) ? text : `${text}T00:00:00Z`;
  const time = isDateTime(full) ? new Date(full) : undefined;
  if (time && !Number.isNaN(time.getTime())) return time;
  throw optionError(
    `--${name} must be a day (UTC) or a time with its offset, such as 2024-05-01 or 2024-05-01T10:00:00Z.`,
  );
}
