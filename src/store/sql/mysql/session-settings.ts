import { optionInvalid } from "../../../shared/unknown-names.js";
import { type Session } from "../driver/sql-tx.js";

/** The settings with which the kit's statements do what they say, as the server writes them. */
const safe: Readonly<Record<string, string>> = {
  // Without it a connection would read old rows, and what it renews would not be committed.
  autocommit: "ON",
  // Otherwise a commit begins the next transaction, in which a renewal is not committed, or ends the connection.
  completion_type: "NO_CHAIN",
  // The driver writes and reads UTF-8, whatever the server takes the bytes for.
  character_set_client: "utf8mb4",
  character_set_connection: "utf8mb4",
  character_set_results: "utf8mb4",
  // Otherwise the server refuses writes that use no index, as a migration has.
  sql_safe_updates: "OFF",
};

/** The setting that limits the rows of every query, and its highest value. A lower one hides payments from a lock. */
const limit = ["sql_select_limit", "18446744073709551615"] as const;

/** The modes in which the server reads other values than the driver wrote, which writes quotes with backslashes. */
const unsafeModes = ["NO_BACKSLASH_ESCAPES", "EMPTY_STRING_IS_NULL"];

/**
 * Gives a session of the kit's own the settings that are safe. A server may have others for all its sessions.
 *
 * @throws ConfigurationError `option_invalid` for an unsafe `sql_mode`, which the application's statements may need
 */
export async function prepareSession(session: Session, lockWaitSeconds: number): Promise<void> {
  await session.run("set session transaction isolation level read committed", []);
  await session.run(
    `set session innodb_lock_wait_timeout = ${lockWaitSeconds}, session ${limit.join(" = ")}`,
    [],
  );
  for (const [name, value] of await unsafeSettings(session))
    await session.run(`set session ${name} = '${value}'`, []);
}

/**
 * Refuses a session of an application with other settings: the kit does not change them.
 *
 * @throws ConfigurationError `option_invalid`
 */
export async function refuseUnsafeSession(session: Session): Promise<void> {
  // Asked for alone, because it limits the rows of the other answer too.
  const [known] = await readSettings(session, [limit[0]]);
  const unsafe = known && known[1] !== limit[1] ? [limit] : await unsafeSettings(session);
  for (const [name, value] of unsafe)
    throw optionInvalid("urlOrPool", `the pool's connections must have ${name} = ${value}.`);
}

/** Returns the settings of a session that must be others, except the limit, with their safe values. */
async function unsafeSettings(session: Session): Promise<[name: string, value: string][]> {
  const found = await readSettings(session, [...Object.keys(safe), "sql_mode"]);
  const modes = found.find(([name]) => name === "sql_mode")?.[1].split(",") ?? [];
  const unsafe = unsafeModes.find((mode) => modes.includes(mode));
  if (unsafe !== undefined)
    throw optionInvalid("urlOrPool", `the server's sql_mode must not contain ${unsafe}.`);
  return found.flatMap(([name, value]) => {
    const wanted = safe[name] ?? value;
    return value === wanted ? [] : [[name, wanted]];
  });
}

/** Reads the settings that the server has: not every product has all of them. */
async function readSettings(session: Session, names: readonly string[]): Promise<[string, string][]> {
  const list = names.map((name) => `'${name}'`).join(", ");
  const { rows } = await session.run(`show session variables where variable_name in (${list})`, []);
  return rows.map((row) => Object.values(row).map(String) as [string, string]);
}
