import { postgresStore } from "tillkit/sql";
import { openPlace, serverUrl } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { proxyTo } from "../faults/proxy.js";
import { seedPayments } from "../faults/shop.js";

describe("connections whose end the server does not learn", () => {
  const url = serverUrl("postgres");
  if (url === undefined)
    it("leaves PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () =>
      expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]));
  else
    it.each([
      ["on the pipelined connection", true],
      ["on a connection of the pool", false],
    ])("do not keep the payments of a webhook locked: %s", async (_, preparedStatements) => {
      const place = await openPlace("postgres");
      await seedPayments(place, 1);
      const proxy = await proxyTo(url);
      const address = new URL(proxy.url);
      if (!preparedStatements) address.searchParams.set("preparedStatements", "false");
      const options = { tablePrefix: place.address.prefix, busyTimeoutMs: 500 };
      const store = postgresStore(address.href, options);
      const other = postgresStore(url, options);
      const keys = { clientIds: ["c-0"], serviceIds: [], references: [], eventKeys: [] };
      const recording = store.record(keys, () => {
        proxy.silence({ isDeaf: true });
        return {};
      });
      await expect(recording).rejects.toMatchObject({ code: "store_unavailable" });

      const isRecorded = () => other.record(keys, () => ({})).catch(() => false);
      await until(isRecorded, "the payment is not locked any more", 20_000);
      await Promise.all([store.close(), other.close()]);
      await proxy.close();
      await place.remove();
    });
});
