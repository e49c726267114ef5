import { sqliteStore } from "tillkit/sql";
import { event, ledger, mailer } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, pairs, saved, withEvents } from "../../../src/store/exam/checks/steps.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const retire = (...argv: string[]) => runCli(["retire", "--store", file, ...argv], { cwd: folder.path });

describe("tillkit retire", () => {
  it("retires what waits for the name, says how much it was, and leaves other handlers alone", async () => {
    const store = sqliteStore(file);
    await withEvents(store, [ledger, mailer], 2);
    expect(await retire("ledger")).toMatchObject({
      code: 0,
      stdout: "ledger is retired. 2 of its dispatches were not done.\n",
    });
    expect(documentOf(await retire("ledger", "--json"))).toEqual({ handler: "ledger", retired: 0 });
    const misspelt = await retire("leger");
    expect(misspelt).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to retire") });
    expect(misspelt.stdout).toContain("Is the name right? Dispatches wait for: mailer.");
    await saved(store, { events: [event("e2")] });
    expect(pairs(await claimed(store, [ledger, mailer]))).toEqual(["e0 mailer", "e1 mailer", "e2 mailer"]);
    await store.close();
  });

  it("retires only the registration for one event with --event", async () => {
    const store = sqliteStore(file);
    const overdue = { ...mailer, event: "payment.overdue" } as const;
    await store.registerHandlers([mailer, overdue]);
    await saved(store, { events: [event("e3"), event("e4", { type: "payment.overdue" })] });
    await retire(mailer.name, "--event", "payment.overdue");
    expect(pairs(await claimed(store, [mailer, overdue]))).toEqual([`e3 ${mailer.name}`]);
    await store.close();
  });

  it("works on the tables that --table-prefix names", async () => {
    const store = sqliteStore(file, { tablePrefix: "south_" });
    await withEvents(store, [ledger], 3);
    expect(documentOf(await retire("ledger", "--table-prefix", "south_", "--json"))).toMatchObject({
      retired: 3,
    });
    await store.close();
  });

  it("needs a name, and a database with tables of the kit", async () => {
    expect(await retire()).toMatchObject({ code: 2, stderr: expect.stringContaining("needs <handler>") });
    expect(await retire("ledger", "--table-prefix", "other_")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("has no tables of the kit"),
    });
  });
});
