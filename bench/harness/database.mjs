// A database of each contender's own, gone when it stops.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

/** In the checkout, because the system's folder for temporary files may be in memory, where a sync costs nothing. */
const folder = path.resolve(import.meta.dirname, "../../.tmp/bench");

/** A file for SQLite. */
export function sqliteFile() {
  const own = path.join(folder, String(process.pid));
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own, { recursive: true });
  return { file: path.join(own, "bench.db"), drop: () => rmSync(own, { recursive: true, force: true }) };
}

/** Node's own driver, or the one that the kit uses where there is none. */
export async function sqliteDriver() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isBuiltIn = major > 22 || (major === 22 && minor >= 16);
  const { DatabaseSync } = await import(isBuiltIn ? "node:sqlite" : "@photostructure/sqlite");
  return DatabaseSync;
}

/** A database of its own on the server that TILLKIT_BENCH_POSTGRES_URL names. */
export async function postgresDatabase() {
  const { default: pg } = await import("pg");
  const name = `tillkit_bench_${process.pid}`;
  const server = new URL(process.env.TILLKIT_BENCH_POSTGRES_URL);
  const admin = new pg.Client({ connectionString: server.href });
  await admin.connect();
  await admin.query(`drop database if exists ${name}`);
  await admin.query(`create database ${name}`);
  const own = new URL(server);
  own.pathname = `/${name}`;
  return {
    url: own.href,
    async drop() {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    },
    /** What the server's processes for this database have used; `undefined` where they cannot be seen. */
    async cpuUs() {
      const { rows } = await admin.query("select pid from pg_stat_activity where datname = $1", [name]);
      const ticks = rows.map(({ pid }) => ticksOf(pid));
      if (ticks.includes(undefined)) return undefined;
      return ticks.reduce((sum, each) => sum + each, 0) * 10_000;
    },
  };
}

/** Processor time in hundredths of a second, on Linux, where the server runs on this machine. */
function ticksOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return undefined;
  }
}
