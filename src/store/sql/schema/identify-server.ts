import { errorFixes, TillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { type Dialect } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";

/** The result of identifying a server by its names. */
export type KnownServer =
  | { verdict: "examined" }
  | { verdict: "refused"; product: string; reason: string }
  | { verdict: "unexamined"; product: string };

/** The strings with which a server names itself. */
export interface ServerNames {
  /** The result of `version()`. */
  version: string;
  /** `@@version_comment` of MySQL. */
  comment?: string;
  /** The names of settings and functions that only certain products have. */
  features?: readonly string[];
}

/** A product that uses the protocol of another database, but is not based on that database. */
interface Product {
  product: string;
  /** Matches the names of the server. */
  says: RegExp;
  /** The reason why the kit refuses the product. Absent if the product was not examined. */
  reason?: string;
}

const examined: KnownServer = { verdict: "examined" };

/**
 * Products that use PostgreSQL's protocol. Forks of PostgreSQL (Aurora, AlloyDB, Neon) are not in the list.
 */
const postgresProducts: readonly Product[] = [
  { product: "CockroachDB", says: /cockroach|\bcrdb_/i },
  { product: "YugabyteDB", says: /-YB-|yugabyte|\byb_/i },
  { product: "Citus", says: /\bcitus\b/i },
  // Other servers that name themselves PostgreSQL also give a minor version.
  { product: "Aurora DSQL", says: /\bdsql\b|^PostgreSQL \d+$/im },
  { product: "Amazon Redshift", says: /redshift/i },
  { product: "Greenplum", says: /greenplum|cloudberry/i },
  { product: "Materialize", says: /materialize/i },
  { product: "RisingWave", says: /risingwave/i },
  { product: "Spanner", says: /spanner/i },
  { product: "CedarDB", says: /cedardb/i },
  { product: "H2", says: /\bH2\b/ },
  { product: "QuestDB", says: /questdb/i },
  { product: "CrateDB", says: /^CrateDB/m },
  { product: "openGauss", says: /opengauss|gaussdb/i },
  { product: "PolarDB", says: /polardb/i },
  { product: "KingbaseES", says: /kingbase/i },
  { product: "Yellowbrick", says: /yellowbrick/i },
  { product: "Hologres", says: /hologres/i },
  { product: "OrioleDB", says: /orioledb/i },
  { product: "Doltgres", says: /doltgres/i },
  { product: "GreptimeDB", says: /greptime/i },
  { product: "ShardingSphere-Proxy", says: /shardingsphere/i },
];

/**
 * Products that use MySQL's protocol. Forks of MySQL and MariaDB (Percona, Aurora, RDS) are not in the list.
 */
const mysqlProducts: readonly Product[] = [
  {
    product: "TiDB",
    says: /tidb/i,
    reason:
      "it takes FOR UPDATE SKIP LOCKED and locks nothing, so that two processes run one dispatch at the same time",
  },
  { product: "Vitess", says: /vitess|planetscale/i },
  { product: "SingleStore", says: /singlestore|memsql/i },
  { product: "OceanBase", says: /oceanbase|^ob_/im },
  { product: "PolarDB-X", says: /polardb-?x|-(?:TDDL|PXC)-/i },
  { product: "StarRocks", says: /starrocks|^pipeline_dop$/im },
  { product: "Doris", says: /\bdoris\b|selectdb|velodb/i },
  { product: "Dolt", says: /\bdolt\b/i },
  // MySQL and MariaDB have versions of three numbers.
  { product: "ClickHouse", says: /clickhouse|^\d+(?:\.\d+){3}$/im },
  { product: "MatrixOne", says: /matrixone/i },
  { product: "Databend", says: /databend/i },
  { product: "GreptimeDB", says: /greptime/i },
  { product: "GoldenDB", says: /goldendb/i },
  { product: "Readyset", says: /readyset/i },
  { product: "ShardingSphere-Proxy", says: /shardingsphere/i },
  { product: "Mycat", says: /\bmycat\b/i },
  { product: "DBLE", says: /\bdble\b/i },
  { product: "StoneDB", says: /stonedb/i },
  { product: "GBase", says: /\bgbase\b/i },
];

/**
 * Identifies a server that uses PostgreSQL's protocol. PostgreSQL and its forks name their compiler. Other
 * products, such as PGAdapter of Spanner, also call themselves PostgreSQL, but name no compiler.
 */
export function identifyPostgres(names: ServerNames): KnownServer {
  const found = productOf(postgresProducts, names);
  if (found) return found;
  if (/^(PostgreSQL|EnterpriseDB|EDB)\b.*\bcompiled by\b/.test(names.version)) return examined;
  const version = JSON.stringify(names.version.slice(0, 80));
  return { verdict: "unexamined", product: `an unknown product with the version ${version}` };
}

/**
 * Identifies a server that uses MySQL's protocol. An unknown product counts as examined, because its version
 * looks like a version of MySQL.
 */
export function identifyMysql(names: ServerNames): KnownServer {
  return productOf(mysqlProducts, names) ?? examined;
}

function productOf(
  products: readonly Product[],
  { version, comment = "", features = [] }: ServerNames,
): KnownServer | undefined {
  const said = [version, comment, ...features].join("\n");
  const found = products.find(({ says }) => says.test(said));
  if (!found) return undefined;
  const { product, reason } = found;
  return reason === undefined ? { verdict: "unexamined", product } : { verdict: "refused", product, reason };
}

/** Returns the server. Throws `database_refused` if it is known to break the promises of the kit. */
export function refuseUnsafeServer(server: KnownServer): KnownServer {
  if (server.verdict !== "refused") return server;
  const { product, reason } = server;
  throw new TillkitError("database_refused", `The database is ${product}: ${reason}.`);
}

/**
 * Runs a migration. If a server that was not examined refuses a statement, throws `database_unexamined` with
 * the server's own error as its cause.
 */
export async function migrateKnown(
  server: KnownServer,
  dialect: Dialect,
  migrate: () => Promise<void>,
): Promise<void> {
  try {
    await migrate();
  } catch (error) {
    const cause = error instanceof TillkitError ? error : dialect.translate(error);
    if (server.verdict !== "unexamined" || cause instanceof TillkitError) throw cause;
    throw new TillkitError(
      "database_unexamined",
      `The database is ${server.product}, which was never examined, and refuses the kit's tables${because(cause)}`,
      { cause, fix: "Use PostgreSQL, MySQL, MariaDB or SQLite for the kit's tables." },
    );
  }
}

/** Returns the warning about a server that was not examined. */
export function serverWarnings(server: KnownServer): string[] {
  if (server.verdict !== "unexamined") return [];
  const { product } = server;
  return [
    `database_unexamined: The database is ${product}, which was never examined. ${errorFixes.database_unexamined}`,
  ];
}

/** Queries the names of a server that uses PostgreSQL's protocol. Only a system table reveals Citus. */
export async function askPostgres(session: Session): Promise<KnownServer> {
  type Names = { version: string; citus: unknown };
  const { rows } = await session
    .run<Names>("select version() as version, to_regclass('pg_catalog.pg_dist_partition') as citus", [])
    // Not every product has the function `to_regclass`.
    .catch(() => session.run<Names>("select version() as version, null as citus", []));
  const { version, citus } = rows[0]!;
  return identifyPostgres({ version, features: citus === null ? [] : ["citus"] });
}

/**
 * Queries the names of a server that uses MySQL's protocol. An administrator can set version and comment, so
 * this also looks for variables that only certain products have.
 */
export async function askMysql(session: Session): Promise<KnownServer> {
  const { rows } = await session.run<{ version: string; comment: string }>(
    "select version() as version, @@version_comment as comment",
    [],
  );
  const found = await session.run(
    `show variables where variable_name in
      ('tidb_current_ts', 'memsql_version', 'ob_query_timeout', 'pipeline_dop')`,
    [],
  );
  const features = found.rows.map((row) => String(Object.values(row)[0]));
  return identifyMysql({ ...rows[0]!, features });
}
