import { type Session } from "../driver/sql-tx.js";
import { type Database } from "./names.js";

/** Returns the identity of these tables, which they got when they were made. */
export async function identityOf(reader: Session, { tables }: Database): Promise<string> {
  const { rows } = await reader.run<{ value: string }>(
    `select value from ${tables.meta} where name = 'identity'`,
    [],
  );
  return rows[0]!.value;
}
