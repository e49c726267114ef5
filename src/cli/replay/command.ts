import {
  createPayments,
  type DispatchQuery,
  type EventType,
  hmacSignature,
  type Payments,
  type Replayed,
  type ReplayQuery,
  type RevivedDispatches,
  TillkitError,
} from "../../index.js";
import { schemaState, sqlStore } from "../../store/sql/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { databaseOptions, requireDatabase } from "../terminal/database.js";
import { envFileOption, type Environment, readEnvironment } from "../terminal/environment.js";
import { type Output } from "../terminal/output.js";

/** What a webhook may be kept as; `duplicate` is counted and never kept. */
type Kept = NonNullable<ReplayQuery["outcome"]>;

const outcomes: readonly Kept[] = [
  "applied",
  "stale",
  "mismatch",
  "unmatched",
  "unconfirmed",
  "foreign",
  "unrecognised",
  "inadmissible",
];

export const replay: Command = {
  name: "replay",
  summary: "decide stored webhooks again, or run dead dispatches again",
  description: [
    "Reads webhooks from the record, each with what its signature covered when it was verified, and decides them on the " +
      "books as they are now: after payments were adopted, a prefix was corrected, or the kit was updated. Without " +
      "--apply it only prints what would change. What was applied is never taken back.",
    "With --dead it gives dispatches that used up their tries all of them again; the application's own processes run them.",
  ],
  options: [
    ...databaseOptions,
    { name: "apply", summary: "Changes what it would otherwise only print." },
    { name: "client-id", value: "id", summary: "Only the webhooks of this payment." },
    { name: "receipt-id", value: "id", summary: "Only this webhook." },
    {
      name: "outcome",
      value: "outcome",
      choices: outcomes,
      summary: `Only webhooks that are kept as ${outcomes.join(", ")}.`,
    },
    { name: "from", value: "time", summary: "Only webhooks received at this time or later: ISO 8601." },
    { name: "to", value: "time", summary: "Only webhooks received before this time." },
    { name: "dead", summary: "Dead dispatches instead of webhooks." },
    { name: "handler", value: "name", summary: "With --dead: only those of this handler." },
    { name: "event", value: "type", summary: "With --dead: only those of events of this type." },
    { name: "event-id", value: "id", summary: "With --dead: only those of this one event." },
    envFileOption,
  ],
  examples: [
    { summary: "what would be decided otherwise now", command: "tillkit replay --store shop.db" },
    {
      summary: "after the prefix of the shop's clientIds was corrected",
      command: "tillkit replay --outcome foreign --apply --env-file .env",
    },
    {
      summary: "a handler was mended: let its dead dispatches run again",
      command: "tillkit replay --dead --handler books --apply --store shop.db",
    },
  ],
  exitCodes: {
    0: "It was applied, or there is nothing to change.",
    1: "Without --apply: something would change.",
    2: "Used wrongly; no database is named.",
    3: "The database cannot be reached, or has no tables of the kit.",
  },
  run: runReplay,
};

const webhookOptions = ["client-id", "receipt-id", "outcome", "from", "to"] as const;
const dispatchOptions = ["handler", "event", "event-id"] as const;

async function runReplay(args: Arguments, context: Context) {
  const environment = await readEnvironment(args, context);
  const { database, called, tablePrefix } = requireDatabase(args, environment, context);
  const [wrong] = (args.has("dead") ? webhookOptions : dispatchOptions).filter((name) => args.has(name));
  if (wrong !== undefined) {
    const message = `--${wrong} ${args.has("dead") ? "does not go" : "goes only"} with --dead.`;
    throw new TillkitError("command_option_invalid", message);
  }
  const { version } = await schemaState(database, { tablePrefix });
  if (version === 0) throw new TillkitError("store_unavailable", `${called} has no tables of the kit.`);

  const payments = offline(sqlStore(database, { tablePrefix }), environment);
  try {
    return await (args.has("dead") ? reviveDispatches : decideAgain)(payments, args, context.output);
  } finally {
    await payments.close();
  }
}

/** A kit that speaks to nobody but the store: it only decides, as the application's own would. */
function offline(store: ReturnType<typeof sqlStore>, environment: Environment): Payments {
  const read = (name: string): string | undefined => environment[`TILLKIT_${name}`]?.trim() || undefined;
  const confirm = read("CONFIRM") === "lookup" ? ("lookup" as const) : undefined;
  return createPayments({
    publicUrl: "http://localhost/payments",
    service: { baseUrl: "http://localhost", accessToken: "none" },
    // Nothing arrives here, so that nothing is ever verified with it.
    signature: hmacSignature({ secret: crypto.randomUUID() }),
    store,
    clientIdPrefix: read("CLIENT_ID_PREFIX"),
    ...(confirm && { confirm, lookup: true }),
    dispatch: false,
    spool: false,
    logger: false,
  });
}

async function decideAgain(payments: Payments, args: Arguments, output: Output) {
  const replayed = await payments.replay({
    clientId: args.get("client-id"),
    receiptId: args.get("receipt-id"),
    outcome: args.get("outcome") as Kept | undefined,
    from: timeOf(args, "from"),
    to: timeOf(args, "to"),
    dryRun: !args.has("apply"),
    onProgress: ({ looked, changed }) =>
      output.draw(`${looked} webhooks looked at, ${changed} decided otherwise`),
  });
  output.draw(undefined);
  output.answer(replayed);
  tellReplayed(replayed, output);
  return replayed.dryRun && replayed.changed > 0 ? (1 as const) : (0 as const);
}

function tellReplayed({ dryRun, looked, forgotten, changed, changes }: Replayed, output: Output): void {
  for (const { receivedAt, clientId = "no payment", from, to, reason, state } of changes) {
    const moved = state ? `, payment ${state.from} → ${output.paint("bold", state.to)}` : "";
    output.say(`${receivedAt}  ${clientId}  ${from} → ${output.paint("bold", to)}${moved}`);
    if (reason !== undefined) output.say(`  ${output.paint("dim", reason)}`);
  }
  if (changed > changes.length) output.say(`… and ${changed - changes.length} more.`);
  const bytes = forgotten > 0 ? ` The bytes of ${forgotten} were forgotten, so they stay as they are.` : "";
  output.say(
    `${looked} webhooks looked at; ${changed} ${dryRun ? "would be" : "were"} decided otherwise.${bytes}`,
  );
  if (dryRun && changed > 0) output.say("Nothing was changed; --apply does it.");
}

async function reviveDispatches(payments: Payments, args: Arguments, output: Output) {
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
    // A dry run would find the same ones again.
    more = revived.more && !dryRun;
    if (revived.more && dryRun) output.remark("There are more; the first 500 are shown.");
  }
  output.draw(undefined);
  output.answer({ dryRun, dispatches: found });
  for (const { settledAt = "", type, clientId = "no payment", handler, error = "" } of found)
    output.say(`${settledAt}  ${type}  ${clientId}  ${output.paint("bold", handler)}  ${error}`);
  output.say(`${found.length} dead dispatches ${dryRun ? "would run" : "run"} again.`);
  if (dryRun && found.length > 0) output.say("Nothing was changed; --apply does it.");
  return dryRun && found.length > 0 ? (1 as const) : (0 as const);
}

function timeOf(args: Arguments, name: "from" | "to"): Date | undefined {
  const text = args.get(name);
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new TillkitError(
    "command_option_invalid",
    `--${name} must be a time of ISO 8601, such as 2024-05-01.`,
  );
}
