import { randomBytes } from "node:crypto";

const tableNames = ["payments", "webhooks", "events", "handlers", "dispatches", "resolutions", "meta"];

/** Returns functions that give each store tables of its own in a shared database, and drop them. */
export function tablePrefixes(run: (sql: string) => Promise<unknown>): {
  next(): string;
  drop(prefix: string): Promise<void>;
  dropAll(): Promise<void>;
} {
  const given = new Set<string>();
  const drop = async (prefix: string): Promise<void> => {
    // One statement, because a server writes to its disk for each.
    await run(`drop table if exists ${tableNames.map((table) => prefix + table).join(", ")}`);
    given.delete(prefix);
  };
  return {
    next: () => {
      const prefix = `t${randomBytes(6).toString("hex")}_`;
      given.add(prefix);
      return prefix;
    },
    drop,
    dropAll: async () => {
      for (const prefix of given) await drop(prefix);
    },
  };
}
