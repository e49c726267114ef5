import { TillkitError } from "../errors/index.js";
import { didYouMean } from "../shared/nearest.js";
import { type CommandDefinition, type Command, withCommonOptions } from "./terminal/command.js";

/** Every command, in the order of the help. A command's file is imported when the command is called. */
const commandTable: Readonly<Record<string, { summary: string; load: () => Promise<CommandDefinition> }>> = {
  init: {
    summary: "add payments to an Express app, or make a shop in an empty folder",
    load: async () => (await import("./init/command.js")).initCommand,
  },
  sandbox: {
    summary: "start an emulated payment service, and print what happens",
    load: async () => (await import("./sandbox/command.js")).sandboxCommand,
  },
  trigger: {
    summary: "sign a webhook, or the webhooks of a scenario, and send them to an endpoint",
    load: async () => (await import("./trigger/command.js")).triggerCommand,
  },
  sign: {
    summary: "compute the signature of a webhook's body",
    load: async () => (await import("./sign/command.js")).signCommand,
  },
  verify: {
    summary: "check a webhook's signature, and say why the signature does not match",
    load: async () => (await import("./verify/command.js")).verifyCommand,
  },
  statement: {
    summary: "compare a settlement statement with the stored payments",
    load: async () => (await import("./statement/command.js")).statementCommand,
  },
  resolve: {
    summary: "settle a payment or a webhook as a person, with a reason",
    load: async () => (await import("./resolve/command.js")).resolveCommand,
  },
  replay: {
    summary: "decide the outcomes of stored webhooks again",
    load: async () => (await import("./replay/command.js")).replayCommand,
  },
  payments: {
    summary: "find payments by what a customer knows, and show a payment's history",
    load: async () => (await import("./payments/command.js")).paymentsCommand,
  },
  attention: {
    summary: "list what needs a person, and assign, snooze, note or settle an entry",
    load: async () => (await import("./attention/command.js")).attentionCommand,
  },
  handlers: {
    summary: "list, pause, resume, limit, retry or retire handlers",
    load: async () => (await import("./handlers/command.js")).handlersCommand,
  },
  health: {
    summary: "say whether the store works, and what needs a person",
    load: async () => (await import("./health/command.js")).healthCommand,
  },
  migrate: {
    summary: "update the kit's tables to the version of this tillkit",
    load: async () => (await import("./migrate/command.js")).migrateCommand,
  },
  backup: {
    summary: "write a backup of the SQLite file while the application runs",
    load: async () => (await import("./backup/command.js")).backupCommand,
  },
  exam: {
    summary: "examine a store of your own or a database server, without a test runner",
    load: async () => (await import("./exam/command.js")).examCommand,
  },
  doctor: {
    summary: "examine a running app, its environment and its database",
    load: async () => (await import("./doctor/command.js")).doctorCommand,
  },
};

/** The names and summaries of all commands, in the order of the help. */
export const commandSummaries: readonly Pick<Command, "name" | "summary">[] = Object.entries(
  commandTable,
).map(([name, { summary }]) => ({ name, summary }));

/** Loads a command. Throws `command_unknown`, or `command_option_unknown` for a name such as `--port`. */
export async function loadCommand(name: string): Promise<Command> {
  if (!Object.hasOwn(commandTable, name)) throw unknownCommand(name);
  const { summary, load } = commandTable[name]!;
  return { name, summary, ...withCommonOptions(await load()) };
}

function unknownCommand(name: string): TillkitError {
  const isOption = name.startsWith("-");
  const known = [...Object.keys(commandTable), "help", ...(isOption ? ["--help", "--version"] : [])];
  return new TillkitError(
    isOption ? "command_option_unknown" : "command_unknown",
    `tillkit has no ${isOption ? "option" : "command"} "${name}".${didYouMean(name, known)}`,
  );
}
