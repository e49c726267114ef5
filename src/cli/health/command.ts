import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { withOfflineKit } from "../terminal/offline-kit.js";
import { wrap } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";

export const healthCommand: CommandDefinition = {
  description: [
    "Prints the state of the store: whether it accepts reads and writes, which dispatches wait or are " +
      "dead, and which handlers are paused. It does not know the spool and the process of the application. " +
      "For these, call `payments.health()` in that process.",
  ],
  options: { ...databaseOptions, ...envFileOption },
  examples: {
    "before the day begins": "tillkit health --store shop.db",
    "with the database of the environment, for a script": "tillkit health --json --env-file .env",
  },
  exitCodes: {
    0: "The store is well, and nothing waits for a person.",
    1: "There is a reason to look.",
    2: "Used wrongly; no database is named.",
    3: "The database cannot be reached, or has no tables of the kit.",
  },
  run: (args, context) =>
    withOfflineKit(args, context, async (payments) => {
      const { output } = context;
      const health = await payments.health();
      output.printJson(health);
      const { status, reasons, counts } = health;
      output.print(output.paint(status === "ok" ? "green" : "red", status));
      for (const { code, message } of reasons)
        output.print(`  ${wrap(`${code}: ${message}`, output.width - 2, "    ")}`);
      if (counts) {
        const { dead, parked, oldestUndoneAt = "none" } = counts;
        output.print(
          `Dead dispatches: ${dead}. Webhooks that wait: ${parked}. Oldest event not done: ${oldestUndoneAt}.`,
        );
      }
      return status === "ok" ? 0 : 1;
    }),
};
