import { randomBytes } from "node:crypto";
import { mysqlStore, postgresStore } from "tillkit/sql";
import { closeAll } from "../../support/kit.js";
import { openPlace, serverUrl } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { completionOf, openShop, seedPayments } from "../faults/shop.js";

describe("sessions that stay read-only after a failover", () => {
  const postgresUrl = serverUrl("postgres");
  const mysqlUrl = serverUrl("mysql");

  if (postgresUrl === undefined)
    it("leaves PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () =>
      expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]));
  else
    it("PostgreSQL: webhooks are recorded and handled in new sessions as soon as there are writable ones", async () => {
      const place = await openPlace("postgres");
      await seedPayments(place, 20);
      // A default of the role is read once by each session: those from before the change stay read-only.
      const role = `tillkit_test_${randomBytes(6).toString("hex")}`;
      await place.select(`create role ${role} superuser login password '${role}'`);
      const url = new URL(postgresUrl);
      url.username = role;
      url.password = role;
      const store = postgresStore(url.href, { tablePrefix: place.address.prefix });
      const shop = await openShop(place, { store });
      await place.select(`alter role ${role} set default_transaction_read_only = on`);
      // The sessions of the shop's start end, as in a failover.
      await place.select(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
      const post = (from: number) =>
        Promise.all(Array.from({ length: 10 }, (_, n) => shop.post(completionOf(from + n))));
      expect(new Set(await post(0))).toEqual(new Set([200]));
      expect((await shop.payments.health()).spool).toMatchObject({ records: 10 });

      await place.select(`alter role ${role} reset default_transaction_read_only`);
      const from = performance.now();
      expect(new Set(await post(10))).toEqual(new Set([200]));
      await until(async () => (await place.ledger()).length >= 20, "all payments are handled");
      expect(performance.now() - from).toBeLessThan(30_000);
      await closeAll();
      await place.select(`drop role ${role}`);
      await place.remove();
    });

  if (mysqlUrl === undefined)
    it("leaves MySQL out, because TILLKIT_TEST_MYSQL_URL names no server", () =>
      expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]));
  else
    it.each([
      ["1290", "The server is running with the --read-only option so it cannot execute this statement"],
      ["1836", "Running in read-only mode"],
    ])(
      // The shared server must stay writable, so that the error comes from a statement that raises it.
      "MySQL: no connection that was opened before error %s is used again",
      async (errno, message) => {
        const place = await openPlace("mysql");
        const store = mysqlStore(mysqlUrl, { tablePrefix: place.address.prefix });
        const idOf = async (): Promise<number> => {
          const { rows } = await store.transaction((tx) =>
            tx.query<{ id: number }>("select connection_id() as id"),
          );
          return rows[0]!.id;
        };
        // Both are open at the same time, so that they are two.
        const before = await store.transaction(async (tx) => {
          const { rows } = await tx.query<{ id: number }>("select connection_id() as id");
          return [rows[0]!.id, await idOf()];
        });
        const refused = store.transaction((tx) =>
          tx.query(`signal sqlstate 'HY000' set mysql_errno = ${errno}, message_text = '${message}'`),
        );
        await expect(refused).rejects.toMatchObject({ code: "store_unavailable" });
        const after = [await idOf(), await idOf(), await idOf()];
        for (const id of before) expect(after).not.toContain(id);
        await store.close();
        await place.remove();
      },
    );
});
