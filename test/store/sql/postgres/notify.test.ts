import { EventEmitter, once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { Pool } from "pg";
import { postgresStore } from "tillkit/sql";
import { until } from "../../../../src/store/exam/checks/steps.js";
import { proxyTo } from "../../../promises/faults/proxy.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves notifications out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  it("survives a connection of the application's pool that is reset while it notifies", async () => {
    const proxy = await resettingAt("pg_notify", url);
    const pool = new Pool({ connectionString: proxy.url });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const store = postgresStore(pool, { tablePrefix: tables.next() });
    const recordedAt = "2026-11-20T10:00:00.000Z";
    try {
      const removed = once(pool, "remove");
      await store.transaction((tx) =>
        store.save(tx, { events: [{ id: "e1", type: "payment.overdue", recordedAt, payload: {} }] }),
      );
      await removed;
      // An error without a listener would have ended this test.
      expect(proxy.resets()).toBe(1);
      expect(await store.find("nobody")).toBeUndefined();
    } finally {
      await store.close();
      await tables.dropAll();
      await pool.end();
      proxy.close();
    }
  });

  it("leaves no connection behind when it stops listening while it connects", async () => {
    const pool = new Pool({ connectionString: url });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const application = `stopped_${process.pid}`;
    const address = new URL(url);
    address.searchParams.set("application_name", application);
    const store = postgresStore(address.href, { tablePrefix: tables.next() });
    await store.migrate();
    for (let stops = 0; stops < 3; stops++) store.wake!(() => undefined)();
    await store.close();
    // The server may notice the end of a connection a moment later.
    const left = async () => {
      const sql = "select count(*)::int as count from pg_stat_activity where application_name = $1";
      return (await pool.query<{ count: number }>(sql, [application])).rows[0]!.count;
    };
    expect(await until(async () => ((await left()) === 0 ? "none" : undefined))).toBe("none");
    await tables.dropAll();
    await pool.end();
  });

  it("listens on a new connection after the one that listened went quiet", async () => {
    const proxy = await proxyTo(url);
    const pool = new Pool({ connectionString: url });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const tablePrefix = tables.next();
    const listening = postgresStore(proxy.url, { tablePrefix, busyTimeoutMs: 100 });
    const saving = postgresStore(pool, { tablePrefix });
    await saving.migrate();
    const events = new EventEmitter();
    const stop = listening.wake!(() => void events.emit("woken"));
    // Each subscription wakes once.
    await once(events, "woken");
    proxy.silence();
    await once(events, "woken");
    const woken = once(events, "woken");
    const recordedAt = "2026-11-20T10:00:00.000Z";
    await saving.transaction((tx) =>
      saving.save(tx, { events: [{ id: "e1", type: "payment.overdue", recordedAt, payload: {} }] }),
    );
    expect(await woken).toEqual([]);
    stop();
    await listening.close();
    await saving.close();
    await tables.dropAll();
    await pool.end();
    await proxy.close();
  }, 60_000);
}

/** Starts a proxy that resets the connection of a client that sends this text. */
async function resettingAt(
  text: string,
  target: string,
): Promise<{ url: string; resets: () => number; close: () => void }> {
  const url = new URL(target);
  const { hostname, port } = url;
  let resets = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    upstream.pipe(client);
    client.on("end", () => upstream.end());
    client.on("data", (bytes) => {
      if (!bytes.includes(text)) return void upstream.write(bytes);
      resets++;
      client.resetAndDestroy();
      upstream.destroy();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url.port = String((server.address() as AddressInfo).port);
  url.hostname = "127.0.0.1";
  return { url: url.href, resets: () => resets, close: () => server.close() };
}
