import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client, Pool } from "pg";
import { mysqlStore, postgresStore } from "tillkit/sql";
import { until } from "../../promises/processes/members.js";
import { galeraIsMissing, startMariadb } from "../../support/galera.js";
import { tablePrefixes } from "./support/table-prefixes.js";

// A server is started and connected.
jest.setTimeout(90_000);

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

/** Returns the warnings about replication. */
const aboutReplication = (warnings: readonly string[]): string[] =>
  warnings.filter((warning) => warning.startsWith("replication_asynchronous: "));

if (url === undefined || url === "none")
  it("leaves the standbys of PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(url);
  });
else
  it("warns on PostgreSQL that a failover can lose a webhook, while a standby is connected and no commit waits for it", async () => {
    const pool = new Pool({ connectionString: url });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const store = postgresStore(url, { tablePrefix: tables.next() });
    // The server takes a client that asks for the log for a standby.
    const standby = new Client({ connectionString: url, replication: "database" } as object);
    standby.on("error", () => undefined);
    await standby.connect();
    const { rows } = await standby.query<{ xlogpos: string }>("IDENTIFY_SYSTEM");
    const { connection } = standby as unknown as { connection: NodeJS.EventEmitter };
    const started = once(connection, "replicationStart");
    standby.query(`START_REPLICATION PHYSICAL ${rows[0]!.xlogpos}`).catch(() => undefined);
    await started;
    expect(aboutReplication(await store.warnings())).toEqual([
      expect.stringMatching(/PostgreSQL has \d+ connected/),
    ]);
    (connection as unknown as { stream: { destroy(): void } }).stream.destroy();
    const standbys = "select pid from pg_stat_replication";
    await until(async () => (await pool.query(standbys)).rowCount === 0, "the end of the standby");
    expect(aboutReplication(await store.warnings())).toEqual([]);
    await store.close();
    await tables.dropAll();
    await pool.end();
  });

const missing = galeraIsMissing();

if (missing !== undefined) {
  console.info(`The replicas of MySQL are not examined: ${missing}.`);
  it("leaves the replicas of MySQL out, because no server can be started", () => {
    expect(galeraIsMissing()).toBe(missing);
  });
} else
  it("warns on MySQL that a failover can lose a webhook, while a replica is connected and no commit waits for it", async () => {
    const server = await startMariadb();
    try {
      const store = mysqlStore(server.url);
      expect(aboutReplication(await store.warnings())).toEqual([]);
      const { hostname, port } = new URL(server.url);
      const at = ["--no-defaults", `--host=${hostname}`, `--port=${port}`, "--user=root"];
      // The server takes a client that asks for the binary log for a replica.
      const replica = spawn(
        "mariadb-binlog",
        [...at, "--read-from-remote-server", "--stop-never", "tillkit.000001"],
        { stdio: "ignore" },
      );
      await until(async () => aboutReplication(await store.warnings()).length === 1, "the warning");
      replica.kill("SIGKILL");
      await store.close();
    } finally {
      await server.stop();
    }
  });
