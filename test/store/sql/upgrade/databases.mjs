import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const require = createRequire(import.meta.url);
const newName = () => `tillkit_upgrade_${randomBytes(4).toString("hex")}`;

/** Makes a database, and backs it up and restores it as docs/backup.md says. `url` is a server; SQLite has none. */
export async function makeDatabase(kind, url) {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-upgrade-"));
  const made = kind === "sqlite" ? sqlite(folder) : await onServer(kind, url, path.join(folder, "shop.dump"));
  return {
    kind,
    ...made,
    async remove() {
      await made.drop?.();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function sqlite(folder) {
  const file = path.join(folder, "shop.db");
  const copy = path.join(folder, "backup.db");
  return {
    address: file,
    backUp: (store) => store.backup(copy),
    restore() {
      for (const ending of ["-wal", "-shm"]) rmSync(file + ending, { force: true });
      copyFileSync(copy, file);
      return file;
    },
  };
}

async function onServer(kind, url, file) {
  const [name, restored] = [newName(), newName()];
  const to = (database) => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const run = (command, ...args) => execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  const execute = kind === "postgres" ? postgresExecutor(url) : mysqlExecutor(url);
  for (const database of [name, restored]) await execute(`create database ${database}`);
  const { hostname, port, username, password } = new URL(url);
  const login = ["--protocol=tcp", `--host=${hostname}`, `--port=${port || 3306}`, `--user=${username}`];
  if (password) login.push(`--password=${decodeURIComponent(password)}`);
  return {
    address: to(name),
    backUp() {
      if (kind === "postgres") return run("pg_dump", "--format=custom", `--file=${file}`, to(name));
      return run("mariadb-dump", ...login, "--single-transaction", `--result-file=${file}`, name);
    },
    restore() {
      if (kind === "postgres") run("pg_restore", "--no-owner", `--dbname=${to(restored)}`, file);
      else run("mariadb", ...login, `--execute=source ${file}`, restored);
      return to(restored);
    },
    async drop() {
      for (const database of [name, restored]) await execute(`drop database if exists ${database}`);
    },
  };
}

/** Returns a function that runs one statement on a connection of its own. */
function postgresExecutor(connectionString) {
  const { Client } = require("pg");
  return async (sql) => {
    const client = new Client({ connectionString });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
}

function mysqlExecutor(uri) {
  const { createConnection } = require("mysql2/promise");
  return async (sql) => {
    const connection = await createConnection(uri);
    try {
      await connection.query(sql);
    } finally {
      await connection.end();
    }
  };
}
