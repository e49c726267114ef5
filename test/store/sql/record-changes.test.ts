import { setTimeout as delay } from "node:timers/promises";
import { payment, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { recorded, saved } from "../../../src/store/exam/checks/steps.js";
import { type Driver, type OpenTransaction } from "../../../src/store/sql/driver/driver.js";
import { MysqlDriver } from "../../../src/store/sql/mysql/mysql-driver.js";
import { resolveSqlStoreOptions } from "../../../src/store/sql/options.js";
import { PostgresDriver } from "../../../src/store/sql/postgres/postgres-driver.js";
import { SqlStore } from "../../../src/store/sql/sql-store.js";
import { tablesUnder } from "../../../src/store/sql/tables/names.js";
import { onEachServer, openPlace, type Place } from "../../promises/processes/databases.js";

const drivers = { postgres: PostgresDriver, mysql: MysqlDriver };
const lost = new Error("The connection was lost during the commit.");

onEachServer("commits of record", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
    await saved(place.store, { created: [payment("p1")] });
  });
  afterEach(() => place.remove());

  /** Opens a store whose transactions lose their connection at the commit: nothing is then known of it. */
  async function losingStore(isPipelined: boolean) {
    const { url, prefix } = place.address;
    const tables = tablesUnder(prefix);
    const driver: Driver<unknown> = new drivers[kind](url, tables, resolveSqlStoreOptions());
    const store = new SqlStore(driver, tables);
    await store.migrate();
    const losing = (open: OpenTransaction<unknown>): OpenTransaction<unknown> => ({
      ...open,
      commit: async () => {
        await open.rollback();
        throw lost;
      },
    });
    const [begin, beginPipelined] = [driver.begin.bind(driver), driver.beginPipelined!.bind(driver)];
    const pipelined = async (): Promise<OpenTransaction<unknown>> => {
      for (;;) {
        const open = await beginPipelined();
        if (open) return losing(open);
        await delay(10);
      }
    };
    Object.assign(driver, {
      begin: async () => losing(await begin()),
      beginPipelined: isPipelined ? pipelined : undefined,
    });
    return store;
  }

  it.each([
    ["on the pipelined connection", true],
    ["on a connection of its own", false],
  ])("a webhook whose commit is not confirmed is not recorded, %s", async (_, isPipelined) => {
    const store = await losingStore(isPipelined);
    const recording = store.record({ clientIds: ["p1"] }, ({ payments }) => ({
      updated: payments.map((found) => ({ ...found, state: "completed", open: false })),
      webhooks: [webhook("k1")],
    }));
    await expect(recording).rejects.toThrow(kind === "postgres" ? /reached|lost/ : /reached|lost/);
    await store.close();
    expect(await recorded(place.store, ["k1"])).toEqual([]);
    expect(await place.store.find("p1")).toMatchObject({ state: "pending" });
  });
});
