import { pendingPayment } from "../../support/webhooks.js";
import { onEachDatabase, openPlace, openStore, type Place } from "./databases.js";
import { members, type MemberSettings } from "./members.js";

const processes = members();

onEachDatabase("processes that start at the same time", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(() => place.remove());

  it("makes the tables one time when 8 processes start", async () => {
    const address = { ...place.address, prefix: `${place.address.prefix}new_` };
    const settings: MemberSettings = { address, web: false, names: [], dispatch: false, migrateOnly: true };
    const starters = await Promise.all(Array.from({ length: 8 }, () => processes.start(settings)));
    for (const { child } of starters) child.send("go");
    expect(await Promise.all(starters.map(({ exited }) => exited))).toEqual(Array(8).fill(0));

    const store = openStore(address);
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    expect(await store.find("c-1")).toMatchObject({ reference: "order-1" });
    expect(await place.select("select * from @new_meta where name = 'version'")).toHaveLength(1);
    for (const table of ["payments", "webhooks", "events", "handlers", "dispatches", "resolutions", "meta"])
      await place.store.transaction((tx) => tx.query(`drop table ${address.prefix}${table}`));
    await store.close();
  });
});
