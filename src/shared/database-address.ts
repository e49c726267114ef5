import { ConfigurationError } from "../errors/index.js";
import path from "node:path";
import { optionInvalid } from "./unknown-names.js";

const protocols = { postgres: ["postgres:", "postgresql:"], mysql: ["mysql:", "mariadb:"] };

/**
 * Reads the name of a database, and refuses a name that its store would refuse. `at` is the address, or the
 * file's absolute path.
 *
 * @throws ConfigurationError `option_invalid`. The message never contains the name or a password in it.
 */
export function readDatabase(database: string): { kind: "sqlite" | "postgres" | "mysql"; at: string } {
  if (typeof database !== "string") throw optionInvalid("database", "must be a path or an address.");
  const [, postgres, mysql] = /^(?:(postgres(?:ql)?)|(mysql|mariadb)):\/\//i.exec(database) ?? [];
  if (postgres ?? mysql) {
    const kind = postgres ? "postgres" : "mysql";
    requireUrlOrPool(database, kind);
    return { kind, at: database };
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(database) && !/^(sqlite|file):/i.test(database))
    throw optionInvalid(
      "store",
      "names a kind of database that is not known; use a file, postgres:// or mysql://.",
    );
  return { kind: "sqlite", at: readFilePath(database.replace(/^(sqlite|file):(\/\/)?/i, "")) };
}

/** Returns the absolute path of a SQLite file. Throws `option_invalid` if the name is not such a path. */
export function readFilePath(file: string): string {
  if (typeof file !== "string" || file.trim() === "" || file === ":memory:" || file.startsWith("file:"))
    throw optionInvalid(
      "file",
      "sqliteStore needs the path of a file, so that nothing is forgotten; use MemoryStore in tests.",
    );
  // An address would be read as a path, and errors would contain it with its password.
  if (file.includes("://"))
    throw optionInvalid(
      "file",
      "must be the path of a file, not an address; see postgresStore and mysqlStore.",
    );
  return path.resolve(file);
}

/** Returns whether the name of a database contains a password, perhaps as a parameter of an address. */
export function hasPassword(database: string): boolean {
  if (!URL.canParse(database)) return /:\/\/.*[:@]/.test(database);
  const { password, searchParams } = new URL(database);
  return password !== "" || [...searchParams.keys()].some((name) => /^pass/i.test(name));
}

/**
 * Throws `option_invalid` for a value that is neither an object nor an address of this kind of database. Also
 * throws it for an address that the driver cannot read or would misread. The message never contains the
 * address, which may have a password in it.
 */
export function requireUrlOrPool(urlOrPool: unknown, kind: keyof typeof protocols): void {
  if (typeof urlOrPool === "object" && urlOrPool !== null) return;
  const fits =
    typeof urlOrPool === "string" && protocols[kind].some((one) => urlOrPool.startsWith(`${one}//`));
  if (!fits)
    throw optionInvalid(
      "urlOrPool",
      `must be an address that starts with ${protocols[kind][0]}// or a pool.`,
    );
  if (!isReadable(urlOrPool, kind))
    throw optionInvalid(
      "urlOrPool",
      "cannot be read as an address; write special characters of the password in their percent form, as %23 for #.",
    );
  if (kind === "mysql") refuseOtherTls(new URL(urlOrPool).searchParams);
}

/** Refuses a parameter for TLS that mysql2 does not read, because the connection would not be encrypted. */
function refuseOtherTls(parameters: URLSearchParams): void {
  for (const [name, value] of parameters)
    if (/^(use_?)?(ssl|tls)/i.test(name) && (name !== "ssl" || value === "true"))
      throw optionInvalid(
        "urlOrPool",
        `has the parameter ${name}, which mysql2 cannot read. Write ssl={} for TLS, which checks the server's certificate, or give a ` +
          "pool with the option ssl. Without TLS, leave it out.",
      );
}

function isReadable(address: string, kind: keyof typeof protocols): boolean {
  try {
    const url = kind === "postgres" ? readPostgresAddress(address) : new URL(address);
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part);
    // The drivers silently ignore the part after a #, which may be the rest of a password.
    return url.hash === "";
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    // Node's error contains the whole address, so it is not used.
    return false;
  }
}

const severalHosts =
  "must name one host, without target_session_attrs. Name one that always leads to the primary: a virtual address, a DNS name or a " +
  "proxy such as HAProxy or PgBouncer; see docs/failover.md.";

/** Reads an address as pg does. pg accepts spaces, percent signs, and a user without a host. */
function readPostgresAddress(address: string): URL {
  const authority = /\/\/([^/?#]*)/.exec(address)?.[1] ?? "";
  if (authority.split("@").at(-1)!.includes(",") || /[?&]target_session_attrs=/.test(address))
    throw optionInvalid("urlOrPool", severalHosts);
  if (/[?&]preparedStatements=(?!(true|false)(&|$))/.test(address))
    throw optionInvalid("preparedStatements", "must be true or false in the address.");
  const isUnescaped = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(address);
  const text = isUnescaped ? encodeURI(address).replaceAll(/%25(\d\d)/g, "%$1") : address;
  return new URL(text.replace("@/", "@localhost/"));
}
