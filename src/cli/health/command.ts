import { type Payments } from "../../index.js";
import { listedRules } from "../attention/command.js";
import { type CommandDefinition } from "../terminal/command.js";
import { commandLine } from "../terminal/command-line.js";
import { databaseOptions } from "../terminal/database.js";
import { withOfflineKit } from "../terminal/offline-kit.js";
import { oneLine, wrap } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";

export const healthCommand: CommandDefinition = {
  description: [
    "Prints the state of the store: whether the store works, which dispatches wait or are dead, which " +
      "handlers are paused, and what needs a person. The command does not see the application's process " +
      "and its spool. To examine that process, call `payments.health()` in that process.",
  ],
  options: { ...databaseOptions, ...envFileOption },
  examples: {
    "check the store before the day begins": "tillkit health --store shop.db",
    "check the database from the environment, in a script": "tillkit health --json --env-file .env",
  },
  exitCodes: {
    0: "The store works, and nothing needs a person.",
    1: "The store has a problem, or something needs a person.",
    2: "The command was used wrongly, or no database is named.",
    3: "The database cannot be reached, or has no tables of the kit.",
  },
  run: (args, context) =>
    withOfflineKit(args, context, async (payments) => {
      const { output } = context;
      const health = await payments.health();
      output.printJson(health);
      const { status, reasons, counts, handlers, attention = {} } = health;
      const isWaiting = await needsPerson(payments);
      output.print(output.paint(status === "ok" ? "green" : "red", status));
      for (const { code, message } of reasons)
        output.print(`  ${wrap(oneLine(`${code}: ${message}`), output.width - 2, "    ")}`);
      if (counts) {
        const { dead, parked, oldestUndoneAt = "none" } = counts;
        const except = handlers?.some(({ paused }) => paused) ? ", except for paused handlers" : "";
        output.print(
          `Dead dispatches: ${dead}. Waiting webhooks: ${parked}. Oldest unfinished event${except}: ${oldestUndoneAt}.`,
        );
      }
      const rules = Object.entries(attention).map(([rule, count]) => `${count} ${rule}`);
      if (isWaiting)
        output.print(
          `People are needed for ${rules.join(", ")}. See: ${commandLine(["attention", "list"], args)}`,
        );
      return status === "ok" && !isWaiting ? 0 : 1;
    }),
};

/** Returns whether an entry waits for a person, and no person has snoozed or settled the entry. */
async function needsPerson(payments: Payments): Promise<boolean> {
  for (let cursor: string | undefined; ;) {
    const page = await payments.attention({ rule: listedRules, cursor });
    if (page.entries.length > 0) return true;
    cursor = page.cursor;
    if (cursor === undefined) return false;
  }
}
