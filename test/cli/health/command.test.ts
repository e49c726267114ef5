import { chmodSync, mkdirSync } from "node:fs";
import { sqliteStore } from "tillkit/sql";
import { event, ledger, payment, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, saved, settled, withEvents } from "../../../src/store/exam/checks/steps.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const health = (...argv: string[]) => runCli(["health", "--store", file, ...argv], { cwd: folder.path });

it("tillkit health says whether the store is well, and what waits for a person", async () => {
  const store = sqliteStore(file);
  await store.migrate();
  // The spool belongs to the application's process, so a spool that this command could not use is no problem.
  mkdirSync(`${file}-spool`);
  chmodSync(`${file}-spool`, 0o777);
  expect(await health()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok\n/) });
  await withEvents(store, [ledger], 1);
  const [claim] = await claimed(store, [ledger]);
  await settled(store, claim!, { state: "dead", error: "no" });
  const sick = await health();
  expect(sick).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("dispatches_dead: 1 dispatches are dead."),
  });
  expect(sick.stdout).toMatch(/\nDead dispatches: 1\. Waiting webhooks: 0\. Oldest unfinished event: .*\.\n/);

  await saved(store, { events: [event("e2", { recordedAt: new Date().toISOString() })] });
  expect(documentOf(await health("--json"))).toMatchObject({ status: "degraded", counts: { dead: 1 } });
  await store.close();
  expect(await health("--table-prefix", "other_")).toMatchObject({ code: 3 });
});

it("tillkit health prints every reason, and ends with 1 also if a person has snoozed the entry", async () => {
  const named = `${folder.path}/snoozed.db`;
  const run = (...argv: string[]) => runCli([...argv, "--store", named], { cwd: folder.path });
  const store = sqliteStore(named);
  await withEvents(store, [ledger], 2);
  const [claim] = await claimed(store, [ledger]);
  await settled(store, claim!, { state: "dead", error: "no" });
  await store.close();
  expect((await run("health")).stdout.match(/^ {2}\w+: /gm)).toEqual([
    "  dispatches_dead: ",
    "  events_late: ",
  ]);
  const { entries } = documentOf(await run("attention", "list", "--json"));
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const { id } of entries as { id: string }[])
    await run("attention", "snooze", id, "--until", tomorrow, "--by", "Amina", "--reason", "later");
  const { code, stdout } = await run("health");
  expect([code, stdout]).toEqual([1, expect.not.stringContaining("People are needed")]);
});

it("tillkit health says that the oldest unfinished event is not one of a paused handler", async () => {
  const paused = `${folder.path}/paused.db`;
  const run = (...argv: string[]) => runCli([...argv, "--store", paused], { cwd: folder.path });
  const store = sqliteStore(paused);
  await withEvents(store, [ledger], 1);
  await store.close();
  expect((await run("health")).stdout).toMatch(/Oldest unfinished event: 2/);
  await run("handlers", "pause", ledger.name, "--by", "Amina", "--reason", "a wrong price");
  expect((await run("health")).stdout).toContain(
    "Oldest unfinished event, except for paused handlers: none.",
  );
});

it("tillkit health does not end with 0 while a payment or a webhook needs a person", async () => {
  const other = `${folder.path}/other.db`;
  const run = (...argv: string[]) => runCli([...argv, "--store", other], { cwd: folder.path });
  const store = sqliteStore(other);
  await saved(store, {
    created: [payment("c-1"), payment("c-2", { state: "completed", attention: "paid_twice" })],
    webhooks: [webhook("w-1", { clientId: "c-1", outcome: "mismatch", reason: "another amount" })],
  });
  await store.close();
  expect(documentOf(await run("health", "--json"))).toMatchObject({
    attention: { paid_twice: 1, mismatched: 1 },
  });
  expect(await run("health")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      "People are needed for 1 paid_twice, 1 mismatched. See: tillkit attention list --store",
    ) as string,
  });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const id of ["paid_twice:c-2", "mismatched:c-1"])
    await run("attention", "snooze", id, "--until", tomorrow, "--by", "Amina", "--reason", "later");
  expect(await run("health")).toMatchObject({ code: 0 });
});

it("tillkit health does not end with 0 if all but the last of 401 entries are snoozed", async () => {
  const many = `${folder.path}/many.db`;
  const store = sqliteStore(many);
  const ids = Array.from({ length: 401 }, (_, index) => `c-${String(index).padStart(3, "0")}`);
  const value = { changes: [], snoozedUntil: new Date(Date.now() + 86_400_000).toISOString() };
  await saved(store, {
    created: ids.map((id) => payment(id, { state: "completed", attention: "paid_late" })),
    notes: ids.slice(0, -1).map((id) => ({ kind: "attention", id: `paid_late:${id}`, version: 0, value })),
  });
  await store.close();
  const run = () => runCli(["health", "--store", many], { cwd: folder.path });
  expect(await run()).toMatchObject({ code: 1, stdout: expect.stringMatching(/^ok\n/) });
});
