import {
  type AttentionAction,
  type AttentionEntry,
  type AttentionQuery,
  type AttentionRule,
  attentionRules,
  type Payments,
} from "../../index.js";
import { type Action, runAction, type RunAction } from "../terminal/actions.js";
import {
  type Arguments,
  type CommandDefinition,
  type ExitCode,
  type InputContext,
} from "../terminal/command.js";
import { confirms } from "../terminal/confirm.js";
import { byPerson, commandLine, stepLines } from "../terminal/command-line.js";
import { databaseOptions } from "../terminal/database.js";
import { oneLine, type Output, wrap } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";
import { printColumns } from "../terminal/table.js";
import { decimalOption, requiredOptions, timeOption } from "../terminal/option-values.js";

/** The rules that need only the store. `spool_set_aside` and `health` need the application's process. */
export const listedRules = attentionRules.filter((rule) => rule !== "spool_set_aside" && rule !== "health");

const maxLimit = 200;

const people = ["by", "key", "version"];
const attentionActions: Readonly<Record<string, Action>> = {
  list: {
    options: ["rule", "assigned", "snoozed", "settled", "limit", "cursor"],
    object: "none",
    run: list,
  },
  assign: { options: [...people, "to", "reason"], object: "needed", run: act("assign") },
  snooze: { options: [...people, "until", "reason"], object: "needed", run: act("snooze") },
  note: { options: [...people, "reason"], object: "needed", run: act("note") },
  settle: { options: [...people, "reason", "document", "apply"], object: "needed", run: settleEntry },
};

export const attentionCommand: CommandDefinition = {
  description: [
    "`list` shows the entries that need a person, with the most urgent entry first. Each entry has the " +
      "command that settles it. `list` reads only the store. To see a process's spool too, call " +
      "`payments.attention()` in this process.",
    "`assign`, `snooze` and `note` are for people who share the work.",
    "`settle` ends an entry if nobody needs to do anything more. Without --apply, `settle` shows you " +
      "the entry and asks first. `settle` moves no money and fulfils no order: for these, `list` prints " +
      "the command tillkit resolve.",
  ],
  operand: { name: "list|assign|snooze|note|settle", summary: "The action. Default: list.", optional: true },
  object: { name: "id", summary: "The id of the entry, as list prints it." },
  options: {
    ...databaseOptions,
    [`--rule <${listedRules.join("|")}>`]: "With list: shows only the entries of this rule.",
    "--assigned <name>":
      'With list: shows only the entries assigned to this person; "" for entries assigned to nobody.',
    "--snoozed": "With list: also shows snoozed entries.",
    "--settled": "With list: also shows settled entries whose cause still exists.",
    "--limit <number>": "With list: the number of entries, 1 to 200. Default: 10.",
    "--cursor <text>": "With list: the cursor of the next page, as the previous page prints it.",
    "--by <name>": "The name of the person who takes the action.",
    "--to <name>": 'With assign: the person who takes the entry; "" for nobody. Default: --by.',
    "--reason <text>": "The reason for the action. With note: the text of the note.",
    "--until <time>": "With snooze: the end of the pause: a UTC day, or a time with an offset.",
    "--document <text>": "With settle: where the evidence is, such as a file and a line number.",
    "--apply": "With settle: settles the entry without asking you.",
    "--version <number>":
      "The version that list showed. If another person changed the entry since, the command changes nothing.",
    "--key <text>": "A name for this action: a second call with the same key does nothing.",
    ...envFileOption,
  },
  examples: {
    "list what needs a person": "tillkit attention list --store shop.db",
    "take the first entry": "tillkit attention assign paid_late:c-1 --by Amina --store shop.db",
    "look at an entry again tomorrow":
      'tillkit attention snooze overdue:c-2 --until 2026-11-28 --reason "the service answers then" --by Amina --store shop.db',
    "settle an entry after the goods were handed over":
      "tillkit attention settle paid_late:c-1 --reason delivered --by Amina --apply --env-file .env",
  },
  exitCodes: {
    0: "Nothing needs a person, or the action is done now or was done before.",
    1: "list found entries, or settle without --apply only showed the entry.",
    2: "The command was used wrongly, or no id or no database is given.",
    3: "The entry is closed, another person was faster, or the database cannot be reached or has no tables of the kit.",
  },
  run: (args, context) =>
    runAction(attentionActions, { command: "attention", needed: "<id>", refused: "<id>" }, args, context),
};

async function list(payments: Payments, args: Arguments, { output }: InputContext): Promise<ExitCode> {
  const assigned = args.get("assigned");
  const query = {
    rule: (args.get("rule") as AttentionRule | undefined) ?? listedRules,
    ...(assigned !== undefined && { assigned: assigned || null }),
    snoozed: args.has("snoozed"),
    settled: args.has("settled"),
  };
  const limit = decimalOption(args, "limit") ?? 10;
  const page = await payments.attention({ ...query, limit, cursor: args.get("cursor") });
  output.printJson(page);
  printEntries(page.entries, args, output);
  if (page.cursor !== undefined && !args.has("json")) {
    const total = await countEntries(payments, query);
    const all = total <= maxLimit ? `; --limit ${total} shows all` : "";
    output.print(
      `\n${page.entries.length} of ${total} entries${all}. The next ones: --cursor ${page.cursor}`,
    );
  }
  if (page.cursor === undefined && page.entries.length === 0) output.print(noneText(args));
  return page.entries.length > 0 ? 1 : 0;
}

async function countEntries(payments: Payments, query: AttentionQuery): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined; ;) {
    const page = await payments.attention({ ...query, limit: maxLimit, cursor });
    count += page.entries.length;
    cursor = page.cursor;
    if (cursor === undefined) return count;
  }
}

function noneText(args: Arguments): string {
  const name = args.get("assigned");
  // Other entries may need a person, for example if the name is misspelt.
  if (name) return oneLine(`No entry that these options select is assigned to ${name}.`);
  if (!args.has("settled")) return "Nothing needs a person.";
  return (
    "Nothing needs a person, and no settled entry has a cause that still exists. To see what was settled for a " +
    "payment: tillkit payments show"
  );
}

function printEntries(entries: readonly AttentionEntry[], args: Arguments, output: Output): void {
  if (entries.length === 0) return;
  printColumns(
    output,
    ["age", "rule", "amount", "order", "clientId", "who", "version"],
    entries.map((one) => [
      ageText(one.ageMs),
      one.rule,
      one.total ? `${one.total.value} ${one.total.currency}` : "",
      one.reference ?? "",
      one.clientId ?? "",
      one.assigned ?? "",
      `${one.version}`,
    ]),
    ["rule", "amount", "clientId"],
  );
  const told: AttentionEntry[] = [];
  for (const one of entries) {
    const { id, reference, why, next, changes } = one;
    if (told.some((first) => isAlike(first, one))) continue;
    told.push(one);
    const alike = entries.filter((other) => isAlike(one, other)).length;
    output.print();
    output.print(output.paint("bold", id) + (reference === undefined ? "" : `  order ${reference}`));
    const last = changes.at(-1);
    const said =
      last && `${last.did} by ${last.by} at ${last.at.slice(0, 16)}Z: ${last.reason ?? last.after ?? ""}`;
    const wrapped = (text: string) => wrap(oneLine(text), output.width - 2, "  ");
    // The next steps contain commands for copying, so they are never wrapped.
    for (const text of [
      wrapped(why),
      ...stepLines(next, args).map(oneLine),
      ...(said === undefined ? [] : [wrapped(said)]),
    ])
      output.print(`  ${text}`);
    if (alike > 1) {
      const retry = commandLine(["handlers", "retry", one.subject.replace(/^.*?:/, ""), ...byPerson], args);
      const how =
        one.rule === "dead_dispatch"
          ? `For all of them:\n    ${retry} --apply`
          : "Use their clientIds in these commands.";
      output.print(`  Further entries of this list with the same cause: ${alike - 1}. ${how}`);
    }
  }
}

/**
 * Returns whether the list shows only the first of two similar entries. A handler's dead dispatches share one
 * command.
 */
function isAlike(one: AttentionEntry, other: AttentionEntry): boolean {
  const isOneStep = one.rule === "dead_dispatch" || stepsOf(one) === stepsOf(other);
  return (
    other.rule === one.rule && other.why === one.why && isOneStep && !isChanged(one) && !isChanged(other)
  );
}

const isChanged = ({ changes }: AttentionEntry): boolean => changes.length > 0;
const stepsOf = ({ next, clientId }: AttentionEntry): string =>
  clientId === undefined ? next : next.replaceAll(clientId, "");

/** Returns an age in minutes (below 2 hours), in hours (below 2 days) or in days. */
function ageText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

function act(action: AttentionAction["action"]): RunAction {
  return (payments, args, { output }) => change(payments, args, output, readAction(action, args));
}

function readAction(action: AttentionAction["action"], args: Arguments): AttentionAction {
  const to = args.get("to");
  const needed = ["by", ...(action === "assign" ? [] : ["reason"])];
  return {
    action,
    by: requiredOptions(args, needed)["by"]!,
    reason: args.get("reason"),
    to: to === "" ? null : to,
    until: timeOption(args, "until"),
    document: args.get("document"),
    key: args.get("key"),
    version: decimalOption(args, "version"),
  };
}

async function change(
  payments: Payments,
  args: Arguments,
  output: Output,
  action: AttentionAction,
): Promise<ExitCode> {
  const { entry, changed } = await payments.attend(args.object!, action);
  output.printJson({ entry, changed });
  const last = entry.changes.at(-1);
  output.print(
    oneLine(`${entry.id}: ${last?.did} by ${last?.by}${changed ? "" : " (this was done before)"}`),
  );
  return 0;
}

/**
 * Settles the entry. Without `--apply`, prints the entry first, and needs the answer yes on standard input.
 */
async function settleEntry(payments: Payments, args: Arguments, context: InputContext): Promise<ExitCode> {
  const { output } = context;
  const action = readAction("settle", args);
  const { entry, changed } = await payments.attend(args.object!, { ...action, dryRun: true });
  if (changed && !args.has("apply")) {
    printEntries([entry], args, output);
    const settles = oneLine(`${action.by} settles the entry: ${action.reason}.`);
    output.print(`\n${settles} This action moves no money and fulfils no order.`);
    if (!(await confirms("Settle this entry?", args, context))) {
      output.printJson({ entry, changed: false, dryRun: true });
      output.print("Nothing was changed; --apply settles the entry.");
      return 1;
    }
  }
  return change(payments, args, output, action);
}
