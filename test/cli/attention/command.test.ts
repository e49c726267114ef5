import { sqliteStore } from "tillkit/sql";
import { ledger, payment, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, saved, settled, withEvents } from "../../../src/store/exam/checks/steps.js";
import { loadCommand } from "../../../src/cli/commands.js";
import { attentionRules } from "../../../src/model/attention.js";
import { acceptedOptions } from "../support/accepted-options.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
let files = 0;
let file = "";
const paid = { state: "completed", open: false, completedAt: "2024-05-01T10:00:00.000Z" } as const;

beforeEach(async () => {
  file = `${folder.path}/shop-${++files}.db`;
  const store = sqliteStore(file);
  await saved(store, {
    created: [
      payment("c-1", { ...paid, attention: "paid_late" }),
      payment("c-2", { overdueAt: "2024-05-02T10:00:00.000Z" }),
    ],
    webhooks: [
      webhook("m", { outcome: "mismatch", clientId: "c-2", reason: "total.value: expected 1475, got 1470" }),
    ],
  });
  await store.close();
});

const attention = (argv: string[], stdin = "") =>
  runCli(["attention", ...argv, "--store", file], { cwd: folder.path, stdin });
const who = ["--by", "Amina", "--reason", "looked"];

describe("tillkit attention", () => {
  it("lists what needs a person in a table that fits, each with the next step, and says when nothing does", async () => {
    const { code, stdout } = await attention(["list"]);
    expect(code).toBe(1);
    const [headings, ...rows] = stdout.split("\n");
    expect(headings).toMatch(/^age +rule +amount +order +clientId +who +version$/);
    expect(rows.slice(0, 3).map((row) => row.split(/ {2,}/)[1])).toEqual([
      "mismatched",
      "paid_late",
      "overdue",
    ]);
    const lines = stdout.split("\n");
    expect(lines.filter((line) => line.length > 100 && !line.includes("tillkit "))).toEqual([]);
    // A command can be copied: no line break is in it.
    expect(stdout).toMatch(/tillkit resolve accept --receipt-id receipt-of-m[^\n]* --reason <why>/);
    expect(stdout).toContain("\npaid_late:c-1  order order-of-c-1\n");
    const commands = stdout.split("\n").filter((line) => line.includes("tillkit "));
    expect(commands.length).toBeGreaterThan(3);
    // A line of its own, without a full stop, and with the database.
    for (const line of commands) expect(line).toMatch(/^ {4}tillkit .*[^.]$/);
    for (const line of commands) expect(line.endsWith(` --store ${file}`)).toBe(true);
    const unknown = await attention(["settle", "overdue:c-none", ...who]);
    expect(unknown.stderr).toContain("overdue:c-none is closed: its cause is gone, or never existed");
    const none = await attention(["--rule", "unmatched"]);
    expect([none.code, none.stdout]).toEqual([0, "Nothing needs a person.\n"]);
  });

  it("shows every field of an entry in its column, and the last change below its steps", async () => {
    const long = "c-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789";
    const store = sqliteStore(file);
    await saved(store, { created: [payment(long, { ...paid, attention: "paid_twice" })] });
    await store.close();
    const cells = async (rule: string) =>
      (await attention(["list", "--rule", rule])).stdout.split("\n")[1]!.split(/ {2,}/).slice(1);
    expect(await cells("overdue")).toEqual(["overdue", "1475 KMF", "order-of-c-2", "c-2", "0"]);
    expect(await cells("paid_twice")).toContain(long);
    await attention(["assign", "overdue:c-2", "--by", "Said", "--to", "Amina"]);
    const said = async () =>
      (await attention(["list", "--rule", "overdue"])).stdout.trimEnd().split("\n").at(-1);
    expect(await said()).toMatch(/^ {2}assigned by Said at \d{4}-\d\d-\d\dT\d\d:\d\dZ: Amina$/);
    expect(await cells("overdue")).toEqual(["overdue", "1475 KMF", "order-of-c-2", "c-2", "Amina", "1"]);
    await attention(["note", "overdue:c-2", "--by", "Said", "--reason", "called"]);
    expect(await said()).toMatch(/^ {2}noted by Said at .*Z: called$/);
  });

  it("accepts every rule except those of the application's process", async () => {
    const { options } = await loadCommand("attention");
    const ofProcess: string[] = ["spool_set_aside", "health"];
    expect(options.find(({ name }) => name === "rule")!.choices).toEqual(
      attentionRules.filter((rule) => !ofProcess.includes(rule)),
    );
  });

  it("prints the steps of entries of one rule with other causes separately", async () => {
    const store = sqliteStore(file);
    await saved(store, {
      created: [payment("c-7")],
      webhooks: ["1470", "1471"].map((value) =>
        webhook(`m-${value}`, { outcome: "mismatch", clientId: "c-7", reason: `total.value: got ${value}` }),
      ),
    });
    await store.close();
    const { stdout } = await attention(["list", "--rule", "mismatched"]);
    expect(stdout).not.toContain("Further entries");
  });

  it("prints the steps of entries with one cause once, and those of an entry that somebody has changed", async () => {
    const store = sqliteStore(file);
    const more = ["c-3", "c-4", "c-5"].map((id) => payment(id, { ...paid, attention: "paid_late" }));
    await saved(store, { created: more });
    await store.close();
    await attention(["note", "paid_late:c-5", ...who]);
    const { stdout } = await attention(["list", "--rule", "paid_late"]);
    const told = [...stdout.matchAll(/^paid_late:(\S+)/gm)].map(([, id]) => id);
    expect(told).toHaveLength(2);
    expect(told).toContain("c-5");
    expect(stdout).toContain(
      "Further entries of this list with the same cause: 2. Use their clientIds in these commands.",
    );
  });

  it("says how many entries there are, and how to list all of them if one page can show them", async () => {
    const store = sqliteStore(file);
    const more = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) =>
        payment(`m-${from + n}`, { ...paid, attention: "paid_late" }),
      );
    await saved(store, { created: more(0, 197) });
    const first = await attention(["list", "--limit", "1"]);
    expect(first.stdout).toMatch(
      /\n1 of 200 entries; --limit 200 shows all\. The next ones: --cursor \S+\n$/,
    );
    await attention(["assign", "overdue:c-2", "--by", "Amina"]);
    const free = await attention(["list", "--limit", "1", "--assigned", ""]);
    expect(free.stdout).toContain("\n1 of 199 entries; --limit 199 shows all. ");
    await saved(store, { created: more(197, 201) });
    await store.close();
    const all = await attention(["list"]);
    expect(all.stdout).toMatch(/\n10 of 204 entries\. The next ones: --cursor \S+\n$/);
  });

  it("shows the age of an entry in minutes, hours or days", async () => {
    const store = sqliteStore(file);
    const [minute, hour] = [60_000, 3_600_000];
    const ages = [119 * minute, 120 * minute, 47 * hour, 48 * hour];
    // The half of a minute is for the time that the command takes.
    const created = ages.map((ms, index) =>
      payment(`a-${index}`, { overdueAt: new Date(Date.now() - ms - minute / 2).toISOString() }),
    );
    await saved(store, { created });
    await store.close();
    const { stdout } = await attention(["list", "--rule", "overdue"]);
    const shown = [...stdout.matchAll(/^(\d+ \w+) .* a-(\d) /gm)].map(([, age, index]) => [index, age]);
    expect(Object.fromEntries(shown)).toEqual({ 0: "119 min", 1: "2 h", 2: "47 h", 3: "2 d" });
  });

  it("prints one command for all dead dispatches of a handler with one cause", async () => {
    const store = sqliteStore(file);
    await withEvents(store, [ledger], 2);
    for (const claim of await claimed(store, [ledger]))
      await settled(store, claim, { state: "dead", error: "Error: timeout" });
    await store.close();
    const { stdout } = await attention(["list", "--rule", "dead_dispatch"]);
    expect(stdout).toContain(
      "Further entries of this list with the same cause: 1. For all of them:\n" +
        `    tillkit handlers retry ledger --by <name> --reason <why> --store ${file} --apply\n`,
    );
  });

  it("prints no question if the entry is settled already, and reads a day of --until as a day in UTC", async () => {
    const settle = ["settle", "paid_late:c-1", ...who];
    await attention([...settle, "--apply"]);
    expect((await attention(settle)).stdout).toBe("paid_late:c-1: settled by Amina (this was done before)\n");
    const settled = await attention(["list", "--settled", "--rule", "paid_twice"]);
    expect(settled.stdout).toMatch(
      /^Nothing needs a person, and no settled entry .* tillkit payments show\n$/,
    );
    const day = tomorrow().slice(0, 10);
    const { entry } = documentOf(
      await attention(["snooze", "overdue:c-2", ...who, "--until", day, "--json"]),
    );
    expect(entry.changes).toMatchObject([{ did: "snoozed", after: `${day}T00:00:00.000Z` }]);
  });

  it("keeps the reason of an assignment, and the evidence of an entry that is settled", async () => {
    const assigned = documentOf(await attention(["assign", "overdue:c-2", ...who, "--json"]));
    expect(assigned.entry.changes).toMatchObject([{ did: "assigned", reason: "looked" }]);
    const settle = ["settle", "mismatched:c-2", ...who, "--document", "note 7", "--apply", "--json"];
    const { entry } = documentOf(await attention(settle));
    expect(entry.changes).toMatchObject([{ did: "settled", reason: "looked", after: "note 7" }]);
  });

  it("gives an entry to another person or to nobody, once for each key, and lists by pages", async () => {
    const give = (...argv: string[]) =>
      attention(["assign", "overdue:c-2", "--by", "Amina", ...argv, "--json"]).then(documentOf);
    expect(await give("--to", "Said", "--key", "k-1")).toMatchObject({
      changed: true,
      entry: { assigned: "Said" },
    });
    expect(await give("--to", "Noor", "--key", "k-1")).toMatchObject({ changed: false });
    expect((await give("--to", "", "--version", "1")).entry).not.toHaveProperty("assigned");
    await attention(["settle", "overdue:c-2", ...who, "--apply", "--version", "2"]);
    const first = documentOf(await attention(["list", "--settled", "--limit", "1", "--json"]));
    const ids: string[] = first.entries.map(({ id }: { id: string }) => id);
    for (let { cursor } = first; cursor !== undefined;) {
      const argv = ["list", "--settled", "--limit", "1", "--cursor", cursor, "--json"];
      const page = documentOf(await attention(argv));
      ids.push(...page.entries.map(({ id }: { id: string }) => id));
      cursor = page.cursor;
    }
    expect(ids.toSorted()).toEqual(["mismatched:c-2", "paid_late:c-1"]);
  });

  it("takes, hides and notes an entry, and lists it by its person, in JSON too", async () => {
    const taken = await attention(["assign", "paid_late:c-1", "--by", "Amina"]);
    expect([taken.code, taken.stdout]).toEqual([0, "paid_late:c-1: assigned by Amina\n"]);
    const forged = await attention(["assign", "mismatched:c-2", "--by", "A\nB", "--to", ""]);
    expect(forged.stdout.trimEnd().split("\n")).toHaveLength(1);
    await attention(["note", "paid_late:c-1", "--by", "Said", "--reason", "the customer called"]);
    await attention(["snooze", "overdue:c-2", ...who, "--until", tomorrow()]);
    const listed = documentOf(await attention(["list", "--json", "--assigned", "Amina"]));
    expect(listed.entries).toMatchObject([{ id: "paid_late:c-1", assigned: "Amina", version: 2 }]);
    const misspelt = await attention(["list", "--assigned", "Amna"]);
    expect([misspelt.code, misspelt.stdout]).toEqual([
      0,
      "No entry that these options select is assigned to Amna.\n",
    ]);
    const free = documentOf(await attention(["list", "--json", "--assigned", ""]));
    expect(free.entries).toMatchObject([{ rule: "mismatched" }]);
    const none = await attention(["list", "--rule", "dead_dispatch", "--assigned", ""]);
    expect([none.code, none.stdout]).toEqual([0, "Nothing needs a person.\n"]);
    expect((await attention(["list", "--snoozed", "--rule", "overdue"])).stdout).toContain(
      "snoozed by Amina at",
    );
    const { stdout } = await runCli(["payments", "show", "c-1", "--store", file], { cwd: folder.path });
    expect(stdout).toContain("paid_late noted by Said: the customer called");
  });

  it("says what it would settle, settles it only after a yes or with --apply, and once", async () => {
    const settle = ["settle", "paid_late:c-1", ...who, "--document", "note 7"];
    for (const stdin of ["", "n\n"]) {
      const { code, stdout } = await attention(settle, stdin);
      expect([code, stdout]).toEqual([
        1,
        expect.stringContaining("Nothing was changed; --apply settles the entry."),
      ]);
      expect(stdout).toContain(
        "Amina settles the entry: looked. This action moves no money and fulfils no order.",
      );
    }
    const would = documentOf(await attention([...settle, "--json"]));
    expect(would).toMatchObject({ dryRun: true, changed: false, entry: { id: "paid_late:c-1" } });
    const done = await attention(settle, "y\n");
    expect([done.code, done.stdout]).toEqual([
      0,
      expect.stringMatching(/\npaid_late:c-1: settled by Amina\n$/),
    ]);
    const again = await attention([...settle, "--apply"]);
    expect([again.code, again.stdout]).toEqual([
      0,
      "paid_late:c-1: settled by Amina (this was done before)\n",
    ]);
    const other = await attention(["settle", "mismatched:c-2", ...who, "--apply", "--json"]);
    expect(documentOf(other)).toMatchObject({ changed: true, entry: { settled: { by: "Amina" } } });
    expect(documentOf(await attention(["list", "--json"])).entries).toMatchObject([{ rule: "overdue" }]);
  });

  it("tells the second of two people what the first did, and refuses what it cannot do", async () => {
    await attention(["assign", "overdue:c-2", "--by", "Amina"]);
    const second = await attention(["assign", "overdue:c-2", "--by", "Said", "--version", "0"]);
    expect([second.code, second.stderr]).toEqual([
      3,
      expect.stringContaining("Amina assigned the entry (Amina) at"),
    ]);
    expect((await attention(["assign", "overdue:c-2", "--by", "Said", "--version", "1"])).code).toBe(0);
    expect((await attention(["note", "overdue:nobody", ...who])).code).toBe(3);
    for (const argv of [
      ["settle"],
      ["snooze", "overdue:c-2", ...who],
      ["note", "overdue:c-2", "--by", "Amina"],
      ["list", "--by", "Amina"],
      ["close", "x"],
    ])
      expect((await attention(argv)).code).toBe(2);
  });

  it.each([
    [["list"], ["assigned", "cursor", "limit", "rule", "settled", "snoozed"]],
    [
      ["assign", "overdue:c-2"],
      ["by", "key", "reason", "to", "version"],
    ],
    [
      ["snooze", "overdue:c-2"],
      ["by", "key", "reason", "until", "version"],
    ],
    [
      ["note", "overdue:c-2"],
      ["by", "key", "reason", "version"],
    ],
    [
      ["settle", "overdue:c-2"],
      ["apply", "by", "document", "key", "reason", "version"],
    ],
  ])("accepts with %j only the options %j", async (argv, names) => {
    expect(await acceptedOptions("attention", argv)).toEqual(names);
  });

  it.each([
    ["assign", "--by is missing."],
    ["snooze", "--by and --reason are missing."],
    ["note", "--by and --reason are missing."],
    ["settle", "--by and --reason are missing."],
  ])("needs the person, and the reason unless the action is assign: %s", async (action, message) => {
    const { code, stderr } = await attention([action, "overdue:c-2"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

function tomorrow(): string {
  return new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString();
}
