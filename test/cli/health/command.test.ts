import { sqliteStore } from "tillkit/sql";
import { event, ledger } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, saved, settled, withEvents } from "../../../src/store/exam/checks/steps.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const health = (...argv: string[]) => runCli(["health", "--store", file, ...argv], { cwd: folder.path });

it("tillkit health says whether the store is well, and what waits for a person", async () => {
  const store = sqliteStore(file);
  await store.migrate();
  expect(await health()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok\n/) });
  await withEvents(store, [ledger], 1);
  const [claim] = await claimed(store, [ledger]);
  await settled(store, claim!, { state: "dead", error: "no" });
  const sick = await health();
  expect(sick).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("dispatches_dead: 1 dispatches are dead."),
  });
  await saved(store, { events: [event("e2", { recordedAt: new Date().toISOString() })] });
  expect(documentOf(await health("--json"))).toMatchObject({ status: "degraded", counts: { dead: 1 } });
  await store.close();
  expect(await health("--table-prefix", "other_")).toMatchObject({ code: 3 });
});
