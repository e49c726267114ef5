import { copyFileSync, rmSync } from "node:fs";
import { sqliteStore } from "tillkit/sql";
import { completionOf, openShop, seedPayments } from "../../../promises/faults/shop.js";
import { openPlace, type Place } from "../../../promises/processes/databases.js";
import { closeAll } from "../../../support/kit.js";

/** Only the file decides what is spooled, and not the speed of the machine. */
const calm = { dispatch: false as const, webhook: { recordTimeoutMs: 20_000 } };

let place: Place;
beforeEach(async () => {
  place = await openPlace("sqlite");
});
afterEach(async () => {
  await closeAll();
  await place.remove();
});

/** Opens another store over a file, with the tables of the place. */
const open = (file: string) => sqliteStore(file, { tablePrefix: place.address.prefix });

/** Copies the database file without its log, and returns the states of the payments in the copy. */
async function statesInCopy(): Promise<string[]> {
  const copy = `${place.address.url}.copy`;
  copyFileSync(place.address.url, copy);
  const store = open(copy);
  const payments = await store.list({ newestFirst: false, limit: 1000 });
  await store.close();
  return payments.map(({ state }) => state);
}

describe("closing on SQLite", () => {
  it("leaves everything in the one file, so that a copy of it is complete", async () => {
    await seedPayments(place, 100);
    await place.store.close();
    const shop = await openShop(place, calm);
    const statuses = await Promise.all(Array.from({ length: 100 }, (_, n) => shop.post(completionOf(n))));
    expect(statuses).toEqual(Array(100).fill(200));
    await shop.payments.close();
    expect(await statesInCopy()).toEqual(Array(100).fill("completed"));
  });

  it("succeeds while another store has a transaction open, whose own close completes the file", async () => {
    await seedPayments(place, 1);
    const other = open(place.address.url);
    await other.transaction(async (tx) => {
      await tx.query("select count(*) as n from sqlite_master");
      await place.store.close();
    });
    expect(await other.find("c-0")).toMatchObject({ state: "pending" });
    await other.close();
    expect(await statesInCopy()).toEqual(["pending"]);
  });

  it("succeeds after its folder was removed", async () => {
    await seedPayments(place, 1);
    rmSync(place.folder, { recursive: true });
    await expect(place.store.close()).resolves.toBeUndefined();
  });
});
