import { optionInvalid } from "../../../shared/unknown-names.js";
import { type Session } from "../driver/sql-tx.js";

/** The settings that the kit's statements require, in the server's spelling. */
const safe: Readonly<Record<string, string>> = {
  // Without autocommit, a connection would read old rows, and never commit the renewal of a lease.
  autocommit: "ON",
  // CHAIN begins a transaction after each commit, so renewals would not commit. RELEASE ends the connection.
  completion_type: "NO_CHAIN",
  // The driver writes and reads UTF-8, so the server must treat the bytes as UTF-8.
  character_set_client: "utf8mb4",
  character_set_connection: "utf8mb4",
  character_set_results: "utf8mb4",
  // With safe updates, the server refuses writes that use no index, such as those of a migration.
  sql_safe_updates: "OFF",
};

/** The setting that limits the rows of every query, and its maximum. A lower value hides payments. */
const limit = ["sql_select_limit", "18446744073709551615"] as const;

/** The modes that change the driver's strings: its escapes with backslashes, or empty strings. */
const unsafeModes = ["NO_BACKSLASH_ESCAPES", "EMPTY_STRING_IS_NULL"];

/**
 * Sets the safe settings in a session of the kit's own, because a server may have other defaults.
 *
 * @throws ConfigurationError `option_invalid` for an unsafe `sql_mode`. The kit does not change this setting,
 * because the application's statements may need it.
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
 * Refuses an application's session whose settings are unsafe. The kit does not change such a session.
 *
 * @throws ConfigurationError `option_invalid`
 */
export async function refuseUnsafeSession(session: Session): Promise<void> {
  // This setting is read first, because it also limits the rows of the second query.
  const [known] = await readSettings(session, [limit[0]]);
  const unsafe = known && known[1] !== limit[1] ? [limit] : await unsafeSettings(session);
  for (const [name, value] of unsafe)
    throw optionInvalid("urlOrPool", `the pool's connections must have ${name} = ${value}.`);
}

/**
 * Returns the unsafe settings of a session with their safe values. Does not check the limit of rows. Throws
 * `option_invalid` for an unsafe `sql_mode`.
 */
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

/** Reads the settings that the server has. Not every product has all of them. */
async function readSettings(session: Session, names: readonly string[]): Promise<[string, string][]> {
  const list = names.map((name) => `'${name}'`).join(", ");
  const { rows } = await session.run(`show session variables where variable_name in (${list})`, []);
  return rows.map((row) => Object.values(row).map(String) as [string, string]);
}
