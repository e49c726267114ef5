// Gives each contender a database of its own, and drops it when the contender stops.
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";

/** A folder on disk: the system's folder for temporary files may be in memory, where a sync costs nothing. */
const folder = path.resolve(import.meta.dirname, "../../.tmp/bench");

/** Returns a new file for SQLite, or the file of another process. */
export function sqliteFile(shared) {
  const name = shared ?? String(process.pid);
  const own = path.join(folder, name);
  if (!shared) {
    rmSync(own, { recursive: true, force: true });
    mkdirSync(own, { recursive: true });
  }
  const file = path.join(own, "bench.db");
  return {
    name,
    file,
    drop: () => shared || rmSync(own, { recursive: true, force: true }),
    /** The bytes that this process has written, log and pages, as the kernel counts them. */
    async figures() {
      const written = /write_bytes: (\d+)/.exec(readIfThere("/proc/self/io") ?? "")?.[1];
      return { walBytes: written && Number(written), sizeBytes: sizeOf(file) + sizeOf(`${file}-wal`) };
    },
  };
}

/** Returns Node's own driver, or the optional package in versions of Node that have none. */
export async function sqliteDriver() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isBuiltIn = major > 22 || (major === 22 && minor >= 16);
  const { DatabaseSync } = await import(isBuiltIn ? "node:sqlite" : "@photostructure/sqlite");
  return DatabaseSync;
}

/** Makes a database on the server that TILLKIT_BENCH_POSTGRES_URL names, or uses the one of another process. */
export async function postgresDatabase(shared) {
  const { default: pg } = await import("pg");
  const name = shared ?? `tillkit_bench_${process.pid}`;
  const server = new URL(process.env.TILLKIT_BENCH_POSTGRES_URL);
  const admin = new pg.Client({ connectionString: server.href });
  await admin.connect();
  if (!shared) {
    await admin.query(`drop database if exists ${name}`);
    await admin.query(`create database ${name}`);
  }
  return {
    name,
    url: within(server, name),
    async drop() {
      if (!shared) await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    },
    /** CPU time of the server's processes for this database; `undefined` where they are not visible. */
    async cpuUs() {
      const { rows } = await admin.query("select pid from pg_stat_activity where datname = $1", [name]);
      const ticks = rows.map(({ pid }) => ticksOf(pid));
      if (ticks.includes(undefined)) return undefined;
      return ticks.reduce((sum, each) => sum + each, 0) * 10_000;
    },
    /** Sizes and connections. The server has one log for all databases, so other writers count, too. */
    async figures() {
      const { rows } = await admin.query(
        `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal, pg_database_size($1) as size,
          (select count(*) from pg_stat_activity where datname = $1) as connections,
          current_setting('max_connections') as max_connections`,
        [name],
      );
      const { wal, size, connections, max_connections: maxConnections } = rows[0];
      return {
        walBytes: Number(wal),
        sizeBytes: Number(size),
        connections: Number(connections),
        maxConnections: Number(maxConnections),
      };
    },
  };
}

/** Makes a database on the server that TILLKIT_BENCH_MYSQL_URL names, or uses the one of another process. */
export async function mysqlDatabase(shared) {
  const { default: mysql } = await import("mysql2/promise");
  const name = shared ?? `tillkit_bench_${process.pid}`;
  const server = new URL(process.env.TILLKIT_BENCH_MYSQL_URL);
  const admin = await mysql.createConnection(server.href);
  if (!shared) {
    await admin.query(`drop database if exists ${name}`);
    await admin.query(`create database ${name}`);
  }
  const [[{ file }]] = await admin.query("select @@pid_file as file");
  const pid = readIfThere(file)?.trim();
  return {
    name,
    url: within(server, name),
    async drop() {
      if (!shared) await admin.query(`drop database if exists ${name}`);
      await admin.end();
    },
    /** CPU time of the whole server, which is one process; `undefined` where it is not visible. */
    async cpuUs() {
      const ticks = pid && ticksOf(pid);
      return ticks && ticks * 10_000;
    },
    async figures() {
      const [[log]] = await admin.query("show global status like 'Innodb_os_log_written'");
      // Sizes are estimates of the last analysis.
      const [tables] = await admin.query(
        "select table_name as t from information_schema.tables where table_schema = ?",
        [name],
      );
      for (const { t } of tables) await admin.query(`analyze table ${name}.${t}`);
      const [[{ size }]] = await admin.query(
        "select sum(data_length + index_length) as size from information_schema.tables where table_schema = ?",
        [name],
      );
      return { walBytes: Number(log.Value), sizeBytes: Number(size) };
    },
  };
}

function within(server, name) {
  const own = new URL(server);
  own.pathname = `/${name}`;
  return own.href;
}

/** Returns a process's CPU time in hundredths of a second, on Linux and for processes of this machine. */
function ticksOf(pid) {
  const fields = readIfThere(`/proc/${pid}/stat`)?.split(") ")[1].split(" ");
  return fields && Number(fields[11]) + Number(fields[12]);
}

function readIfThere(file) {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}

function sizeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
