import path from "node:path";
import { sqlStore } from "../../store/sql/index.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions, requireDatabase, requireTables } from "../terminal/database.js";
import { envFileOption } from "../terminal/read-file.js";

export const backupCommand: CommandDefinition = {
  description: [
    "Writes the database to one file, with the state of one moment. The application can receive " +
      "webhooks during the backup. Until the backup is complete and on disk, the file's name ends with " +
      ".partial. The command never overwrites a file.",
    "PostgreSQL and MySQL have their own backup tools: see docs/backup.md.",
  ],
  operand: { name: "file", summary: "The file for the backup, which must not exist yet." },
  options: { ...databaseOptions, ...envFileOption },
  examples: {
    "back up the database of a running shop":
      "tillkit backup /backups/shop-2026-11-22.db --store /srv/shop/shop.db",
    "back up the database from the environment": "tillkit backup shop.backup.db --env-file .env",
  },
  exitCodes: {
    0: "The backup is complete and on disk.",
    2: "The command was used wrongly, or no database is named.",
    3: "The database cannot be read or is not a SQLite file of the kit, or the backup cannot be written.",
  },
  async run(args, context) {
    const { database, label, tablePrefix } = requireDatabase(args, context);
    // If the database is an address, `backup` throws an error that names the database's own tool.
    if (path.isAbsolute(database)) await requireTables(args, context);
    const file = path.resolve(context.cwd, args.operand!);
    const { bytes } = await sqlStore(database, { tablePrefix }).backup(file);
    context.output.print(`${label} was backed up to ${file} (${bytes} bytes).`);
    context.output.printJson({ database: label, file, bytes });
    return 0;
  },
};
