import { type EventType, type Payments } from "../../index.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { openOfflineKit } from "../terminal/offline-kit.js";
import { envFileOption } from "../terminal/read-file.js";

export const retireCommand: CommandDefinition = {
  description: [
    "Later events get no dispatch for the name, and what is not done of it never runs again, dead dispatches too. First let the " +
      "application do what waits for the name, and stop the processes that have it. The command may be repeated.",
  ],
  operand: { name: "handler", summary: "The name that the code gave the handler." },
  options: {
    ...databaseOptions,
    "--event <type>": "Only the registration of the name for this event; * is that of onAny.",
    ...envFileOption,
  },
  examples: {
    "a handler was removed from the code": "tillkit retire books --store shop.db",
    "with the database of the environment": "tillkit retire books --env-file .env",
  },
  exitCodes: {
    0: "The name is retired, or the store never knew it.",
    2: "Used wrongly; no name or no database is given.",
    3: "The database cannot be reached, or has no tables of the kit.",
  },
  async run(args, context) {
    const handler = args.operand!;
    const payments = await openOfflineKit(args, context);
    try {
      const retired = await payments.retireHandler(handler, {
        event: args.get("event") as EventType | undefined,
      });
      context.output.print(
        retired > 0
          ? `${handler} is retired. ${retired} of its dispatches were not done.`
          : `The store has nothing to retire of ${handler}, and gives it no further events. ${await askForName(payments)}`,
      );
      context.output.printJson({ handler, retired });
      return 0;
    } finally {
      await payments.close();
    }
  },
};

/** Returns a question with the names for which dispatches wait: a misspelt name is nearly one of them. */
async function askForName({ health }: Pick<Payments<never>, "health">): Promise<string> {
  const waiting = (await health()).counts?.waiting ?? [];
  const names = [...new Set(waiting.map(({ handler }) => handler))];
  return `Is the name right?${names.length > 0 ? ` Dispatches wait for: ${names.join(", ")}.` : ""}`;
}
