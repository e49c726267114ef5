import {
  type ControlledHandler,
  type DispatchQuery,
  type EventType,
  type HandlerChange,
  type Payments,
} from "../../index.js";
import { type Action, runAction } from "../terminal/actions.js";
import { optionError } from "../terminal/arguments.js";
import {
  type Arguments,
  type CommandDefinition,
  type ExitCode,
  type InputContext,
} from "../terminal/command.js";
import { TillkitError } from "../../errors/index.js";
import { suggestion } from "../../shared/unknown-names.js";
import { byPerson, commandLine } from "../terminal/command-line.js";
import { databaseOptions } from "../terminal/database.js";
import { oneLine, type Output } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";
import { printColumns } from "../terminal/table.js";
import { printDispatches, printRun } from "./print-dispatches.js";
import { decimalOption, requiredOption, requiredOptions, timeOption } from "../terminal/option-values.js";

const who = byPerson.slice(0, 2);

const handlerActions: Readonly<Record<string, Action>> = {
  list: { options: [], object: "optional", run: listAll },
  pause: {
    options: ["reason", "by", "key"],
    object: "needed",
    run: (payments, args, { output }) => {
      const person = requiredOptions(args, ["by", "reason"]);
      return printChange(payments.pauseHandler(args.object!, { ...person, key: args.get("key") }), output);
    },
  },
  resume: {
    options: ["reason", "by", "key"],
    object: "needed",
    run: (payments, args, { output }) => {
      const person = { ...personOf(args), by: requiredOption(args, "by"), reason: args.get("reason") };
      return printChange(payments.resumeHandler(args.object!, person), output);
    },
  },
  limit: {
    options: ["per-second", "by", "key"],
    object: "needed",
    run: (payments, args, { output }) => {
      const given = requiredOption(args, "per-second");
      const perSecond = given === "none" ? null : decimalOption(args, "per-second")!;
      return printChange(payments.limitHandler(args.object!, { perSecond, ...personOf(args) }), output);
    },
  },
  retry: {
    options: ["apply", "by", "reason", "error", "event", "event-id", "since", "run"],
    object: "optional",
    run: retry,
  },
  retire: { options: ["event", "by", "reason"], object: "needed", run: retire },
};

export const handlersCommand: CommandDefinition = {
  description: [
    "`list` shows each handler's waiting and dead dispatches, and the decisions of people. With a " +
      "handler's name, `list` also shows who changed the handler, when and why.",
    "`pause` lets a handler's events wait in all processes until `resume`, without using up attempts. " +
      "`limit` applies to the runs of all processes. A repeated `pause`, `resume` or `limit` changes " +
      "nothing.",
    "`retry` gives dead dispatches all their attempts again, and the application's own processes run " +
      "them. Without --apply, `retry` only prints the dispatches. --apply requires --by.",
    "`retire` removes a handler from the store after you removed it from the code. First let the " +
      "application finish the handler's dispatches, and stop the processes that have the handler. " +
      "Unfinished dispatches of the handler never run again. A repeated `retire` is harmless.",
  ],
  operand: {
    name: "list|pause|resume|limit|retry|retire",
    summary: "The action. Default: list.",
    optional: true,
  },
  object: {
    name: "handler",
    summary: "The handler's name in the code. Without a name, list and retry use all handlers.",
  },
  options: {
    ...databaseOptions,
    "--reason <text>": "With pause, resume, retry and retire: the reason, for other people.",
    "--by <name>": "The name of the person who takes the action.",
    "--key <text>":
      "With pause, resume and limit: a name for this action; a second call with the same key does nothing.",
    "--per-second <number>": "With limit: the maximum number of runs in a second, or none for no limit.",
    "--apply": "With retry: queues the dispatches again, instead of only printing them.",
    "--error <text>": "With retry: selects the dispatches whose last error contains this text.",
    "--event <type>":
      "With retry: selects the dispatches of this event type. With retire: retires only the registration for this " +
      "event type. * names the registration by onAny.",
    "--event-id <id>": "With retry: selects the dispatches of this single event.",
    "--since <time>":
      "With retry: selects the dispatches that died at this time or later: a UTC day, or a time with an offset.",
    "--run <id>":
      "With retry: shows the state of this run. With --apply: names the run, or continues it with the same conditions.",
    ...envFileOption,
  },
  examples: {
    "show what waits, and for which handler": "tillkit handlers list --store shop.db",
    "let the events wait while the accounts are down":
      'tillkit handlers pause books --reason "accounts are down" --by Amina --store shop.db',
    "let the handler run when the accounts work again":
      "tillkit handlers resume books --by Amina --store shop.db",
    "run what died of one error, after you fixed the handler":
      "tillkit handlers retry books --error timeout --by Amina --apply --env-file .env",
    "retire a handler that you removed from the code":
      "tillkit handlers retire books --by Amina --store shop.db",
  },
  exitCodes: {
    0: "The action is done now, or was done before.",
    1: "retry without --apply: --apply would run dispatches again.",
    2: "The command was used wrongly, or no name or no database is given.",
    3: "The store has no handler of this name, or the database cannot be reached or has no tables of the kit.",
  },
  run: (args, context) =>
    runAction(
      handlerActions,
      { command: "handlers", needed: "<handler>", refused: "handler" },
      args,
      context,
    ),
};

async function listAll(payments: Payments, args: Arguments, { output }: InputContext): Promise<ExitCode> {
  const name = args.object;
  const all = await payments.handlers();
  if (name !== undefined) expectKnown(name, all);
  const handlers = all.filter((one) => name === undefined || one.name === name);
  output.printJson({ handlers });
  if (handlers.length === 0) output.print("No process has registered a handler in this store yet.");
  else
    printColumns(
      output,
      ["handler", "waiting", "dead", "state", "events"],
      handlers.map((one) => [
        one.name,
        `${one.waiting}`,
        `${one.dead}`,
        controlText(one),
        one.events.join(", "),
      ]),
      ["handler"],
    );
  for (const { name, paused, dead, changes } of handlers) {
    for (const one of args.object === undefined ? [] : changes) output.print(changeText(one));
    if (paused)
      output.print(`To resume the handler: ${commandLine(["handlers", "resume", name, ...who], args)}`);
    if (dead > 0)
      output.print(`To run the dead dispatches of ${name} again (${dead}):\n  ${retryLine(args, name)}`);
  }
  return 0;
}

/** Throws `handler_unknown` unless the store has a handler of this name. */
function expectKnown(name: string, handlers: readonly { name: string }[]): void {
  const names = handlers.map((one) => one.name);
  if (names.includes(name)) return;
  const hint = names.length > 0 ? suggestion(name, names) : "The store has no handlers yet.";
  throw new TillkitError("handler_unknown", `The store has no handler named "${name}". ${hint}`);
}

function personOf(args: Arguments) {
  return { by: args.get("by"), key: args.get("key") };
}

function changeText({ at, did, by, reason, before, perSecond, retired }: HandlerChange): string {
  const limit = perSecond === undefined ? undefined : `limit ${perSecond ?? "none"}`;
  const details = [
    limit,
    before && `before: ${before}`,
    retired !== undefined && `${retired} never run again`,
    reason,
  ];
  return oneLine([`${at}  ${did} by ${by ?? "a program"}`, ...details.filter(Boolean)].join("; "));
}

function controlText({ paused, perSecond }: Pick<ControlledHandler, "paused" | "perSecond">): string {
  const limit = perSecond === undefined ? "" : `${perSecond} a second`;
  if (!paused) return limit || "runs";
  return `paused by ${paused.by} since ${paused.at.slice(0, 16)}Z: ${paused.reason}${limit && `; ${limit}`}`;
}

async function printChange(changing: Promise<ControlledHandler>, output: Output): Promise<ExitCode> {
  const changed = await changing;
  const before = changed.changed ? "" : " (it was so before)";
  output.print(oneLine(`${changed.name}: ${controlText(changed)}${before}`));
  output.printJson(changed);
  return 0;
}

async function retry(payments: Payments, args: Arguments, { output }: InputContext): Promise<ExitCode> {
  const apply = args.has("apply");
  if (apply) requiredOption(args, "by");
  const query: DispatchQuery = {
    by: args.get("by"),
    reason: args.get("reason"),
    handler: args.object,
    type: args.get("event") as EventType | undefined,
    eventId: args.get("event-id"),
    error: args.get("error"),
    since: timeOption(args, "since"),
    run: args.get("run"),
  };
  if (query.run !== undefined && !apply) {
    const ignored = ["error", "event", "event-id", "since"].find((name) => args.has(name));
    if (ignored !== undefined) throw optionError(`--${ignored} can be used with --run only with --apply.`);
    return printRun(payments, query.run, output);
  }
  let revived = await payments.replayDispatches({ ...query, dryRun: !apply });
  const { run } = revived;
  const found = [...revived.dispatches];
  // A dry run ends after one page, because a second call would return the same page.
  while (revived.more && !revived.dryRun) {
    output.draw(`Queued again: ${found.length}`);
    revived = await payments.replayDispatches({ ...query, run, dryRun: false });
    found.push(...revived.dispatches);
  }
  output.draw(undefined);
  const handlers = await payments.handlers();
  if (found.length === 0 && query.handler !== undefined) expectKnown(query.handler, handlers);
  output.printJson({ dryRun: !apply, run, dispatches: found, more: revived.more });
  if (!apply) await printDispatches(payments, found, output);
  if (revived.more) output.log(`There are more; these are the first ${found.length}.`);
  output.print(
    apply
      ? `Queued again: ${found.length}. The application's processes run them.`
      : `Would run again: ${found.length}.`,
  );
  for (const { name, paused } of handlers)
    if (paused && found.some(({ handler }) => handler === name))
      output.print(
        `${name} is paused since ${paused.at.slice(0, 16)}Z, so it runs nothing. To resume the handler: ` +
          commandLine(["handlers", "resume", name, ...who], args),
      );
  if (apply && found.length > 0)
    output.print(`To see the result: ${commandLine(["handlers", "retry", "--run", run], args)}`);
  if (apply || found.length === 0) return 0;
  output.print("Nothing was changed; --apply makes the changes.");
  return 1;
}

/** Returns the command that runs all dead dispatches of a handler again. */
function retryLine(args: Arguments, name: string): string {
  return `${commandLine(["handlers", "retry", name, ...byPerson], args)} --apply`;
}

async function retire(payments: Payments, args: Arguments, { output }: InputContext): Promise<ExitCode> {
  const handler = args.object!;
  const retired = await payments.retireHandler(handler, {
    event: args.get("event") as EventType | undefined,
    by: requiredOption(args, "by"),
    reason: args.get("reason"),
  });
  output.print(
    retired > 0
      ? `${handler} is retired. ${retired} of its dispatches were unfinished.`
      : await nothingRetired(payments, handler),
  );
  output.printJson({ handler, retired });
  return 0;
}

/** Returns the message for a handler that had no unfinished dispatches, or whose name is perhaps misspelt. */
async function nothingRetired(payments: Payments, handler: string): Promise<string> {
  const others = (await payments.handlers()).filter(({ name }) => name !== handler).map(({ name }) => name);
  const known = others.length > 0 ? ` The store also has: ${others.join(", ")}.` : "";
  return `The store has nothing to retire for ${handler}, and gives this name no further events. Is the name right?${known}`;
}
