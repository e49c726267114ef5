import { sqliteStore } from "tillkit/sql";
import { auditor, event, ledger, mailer, payment } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, pairs, saved, settled, withEvents } from "../../../src/store/exam/checks/steps.js";
import { acceptedOptions } from "../support/accepted-options.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
let files = 0;
let file = "";
let store: ReturnType<typeof sqliteStore>;
beforeEach(() => {
  file = `${folder.path}/shop-${++files}.db`;
  store = sqliteStore(file);
});
afterEach(() => store.close());

const handlers = (...argv: string[]) =>
  runCli(["handlers", ...argv, "--store", file], {
    cwd: folder.path,
    now: () => new Date("2026-11-20T10:00:00Z"),
  });

describe("tillkit handlers", () => {
  it("lists what waits and what is dead, and pauses, limits and resumes a handler, with who and why", async () => {
    expect((await handlers("list")).code).toBe(3);
    await withEvents(store, [ledger, auditor], 2);
    expect((await handlers("list")).stdout).toMatch(
      /^handler +waiting +dead +state +events\nauditor +2 +0 +runs +\*\nledger +2 +0 +runs +payment\.completed\n$/,
    );
    const paused = await handlers("pause", "ledger", "--reason", "the accounts are down", "--by", "Amina");
    expect(paused.stdout).toMatch(/^ledger: paused by Amina since \S+Z: the accounts are down\n$/);
    const again = await handlers("pause", "ledger", "--reason", "slow", "--by", "Said");
    expect(again.stdout).toContain("paused by Amina");
    expect(again.stdout).toContain("(it was so before)");
    await handlers("limit", "ledger", "--per-second", "0.5", "--by", "Amina");
    expect(documentOf(await handlers("list", "--json")).handlers[1]).toMatchObject({
      name: "ledger",
      waiting: 2,
      perSecond: 0.5,
      paused: { by: "Amina", reason: "the accounts are down" },
      changes: [{ did: "paused" }, { did: "limited" }],
    });
    const slower = await handlers("pause", "ledger", "--reason", "slow", "--by", "Said");
    expect(slower.stdout).toContain(": the accounts are down; 0.5 a second (it was so before)");
    for (const line of (await handlers("list")).stdout.split("\n").slice(0, 3))
      expect(line.length).toBeLessThanOrEqual(100);
    expect((await handlers("list")).stdout).toContain(
      "\nTo resume the handler: tillkit handlers resume ledger --by ",
    );
    const resumed = ["resume", "ledger", "--by", "Said", "--key", "click-1"];
    expect((await handlers(...resumed)).stdout).toBe("ledger: 0.5 a second\n");
    await handlers("pause", "ledger", "--reason", "down again", "--by", "Amina");
    // The click arrives again, and must not let it run.
    expect((await handlers(...resumed)).stdout).toContain("paused by Amina");
    await handlers("resume", "ledger", "--by", "Said", "--reason", "the accounts answer");
    expect((await handlers("limit", "ledger", "--per-second", "none")).stdout).toBe("ledger: runs\n");
    expect((await handlers("list")).stdout).not.toContain("limited by");
    const { stdout: changes } = await handlers("list", "ledger");
    expect(changes).not.toContain("auditor");
    expect(documentOf(await handlers("list", "ledger", "--json")).handlers).toMatchObject([
      { name: "ledger" },
    ]);
    expect(changes).toMatch(
      /resumed by Said; before: paused by Amina since \S+: down again; the accounts answer\n/,
    );
    expect(changes).toMatch(/limited by a program; limit none; before: 0\.5 a second\n/);
  });

  it("says that dead dispatches wait where their handler is paused", async () => {
    await withEvents(store, [ledger], 1);
    for (const claim of await claimed(store, [ledger]))
      await settled(store, claim, { state: "dead", error: "Error: timeout" });
    await handlers("pause", "ledger", "--reason", "the accounts are down", "--by", "Amina");
    expect((await handlers()).stdout).toMatch(
      /To resume the handler: .*\nTo run the dead dispatches of ledger again \(1\):\n  tillkit handlers retry ledger .* --apply\n/,
    );
    const { stdout } = await handlers("retry", "--apply", "--by", "Amina");
    expect(stdout).toContain("Queued again: 1. ");
    expect(stdout).toMatch(
      /ledger is paused since \S+Z, so it runs nothing. To resume the handler: tillkit handlers resume ledger --by /,
    );
  });

  it("names no paused handler whose dispatches a retry does not select", async () => {
    await withEvents(store, [ledger, mailer], 1);
    for (const claim of await claimed(store, [ledger, mailer]))
      await settled(store, claim, { state: "dead", error: "Error: timeout" });
    await handlers("pause", "mailer", "--reason", "no mails", "--by", "Amina");
    expect((await handlers("retry", "ledger")).stdout).not.toContain("is paused");
    expect((await handlers("retry")).stdout).toContain("mailer is paused since ");
  });

  it("runs dead dispatches again that match, only with --apply, and says what became of them", async () => {
    await withEvents(store, [ledger, mailer], 2);
    for (const claim of await claimed(store, [ledger, mailer]))
      await settled(store, claim, { state: "dead", error: `Error: ${claim.event.id} timeout` });
    const would = await handlers("retry", "ledger", "--error", "TIMEOUT", "--json");
    expect(would.code).toBe(1);
    expect(documentOf(would)).toMatchObject({
      dryRun: true,
      dispatches: [
        { eventId: "e0", handler: "ledger", state: "dead" },
        { eventId: "e1", handler: "ledger" },
      ],
    });
    const found = async (...argv: string[]) =>
      documentOf(await handlers("retry", "--json", ...argv)).dispatches.length;
    expect(await found()).toBe(4);
    expect(await found("--event-id", "e0")).toBe(2);
    expect(await found("--error", "E1 TIMEOUT")).toBe(2);
    expect(await found("--event", "payment.overdue")).toBe(0);
    expect(await found("--since", "2099-01-01")).toBe(0);
    expect(await handlers("retry", "--since", "2099-01-01")).toMatchObject({
      code: 0,
      stdout: "Would run again: 0.\n",
    });
    expect(await found("--since", "2099-01-01T10:00Z")).toBe(0);
    expect(pairs(await claimed(store, [ledger, mailer]))).toEqual([]);

    const did = await handlers("retry", "ledger", "--apply", "--by", "Amina", "--reason", "fixed");
    expect(did.code).toBe(0);
    expect(did.stdout).toContain("Queued again: 2. ");
    expect(did.stdout).not.toContain("is paused");
    const run = /retry --run (\S+) --store/.exec(did.stdout)![1]!;
    expect(await store.notes({ kind: "retry", ids: [run] })).toMatchObject([
      { value: { by: "Amina", reason: "fixed" } },
    ]);
    const early = (await handlers("retry", "--run", run)).stdout;
    expect(early).toMatch(/^state +order +event +payment +handler\nwaits .*ledger\nwaits .*ledger\nRun /);
    expect(early).toContain(": 0 done, 0 dead again, 2 not finished, 0 retired.");
    const [first, second] = await claimed(store, [ledger, mailer]);
    expect(pairs([first!, second!])).toEqual(["e0 ledger", "e1 ledger"]);
    await settled(store, first!, { state: "done" });
    await settled(store, second!, { state: "dead", error: "again" });
    const outcome = await handlers("retry", "ledger", "--run", run);
    expect(outcome.code).toBe(0);
    expect(outcome.stdout).toMatch(
      /^died \(UTC\) +order +event +payment +handler\n\d{4}-\d\d-\d\d \d\d:\d\d .*ledger\n {2}again\n/,
    );
    expect(outcome.stdout).toContain(`Run ${run}: 1 done, 1 dead again, 0 not finished, 0 retired.`);
    expect(documentOf(await handlers("retry", "ledger", "--run", run, "--json")).outcome).toMatchObject({
      done: 1,
      dispatches: [{ error: "again", past: [{ error: "Error: e1 timeout" }] }],
    });
  });

  it("says what became of a run without naming a dispatch of another run", async () => {
    await withEvents(store, [ledger, mailer], 1);
    for (const claim of await claimed(store, [ledger, mailer]))
      await settled(store, claim, { state: "dead", error: `Error: ${claim.handler} is closed` });
    const retry = ["retry", "ledger", "--apply", "--by", "Amina"];
    const run = /retry --run (\S+) --store/.exec((await handlers(...retry)).stdout)![1]!;
    expect(await handlers("retry", "--run", run)).toMatchObject({
      code: 0,
      stdout: expect.not.stringMatching(/mailer|Would run|--apply/),
    });
    expect((await handlers("retry", "--run", "mistyped")).stdout).toContain("No run has this id, or ");
    const conditions = [
      ["--error", "closed"],
      ["--event", "payment.completed"],
      ["--event-id", "e0"],
      ["--since", "2026-01-01"],
    ] as const;
    for (const [name, value] of conditions) {
      const narrowed = await handlers("retry", "--run", run, name, value);
      const message = `${name} can be used with --run only with --apply.`;
      expect([narrowed.code, narrowed.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    const all = await handlers("retry", "--run", run, "--apply", "--by", "Amina");
    expect([all.code, all.stderr]).toEqual([2, expect.stringContaining("with other conditions")]);
    expect(documentOf(await handlers("list", "--json")).handlers).toMatchObject([
      { name: "ledger", dead: 0 },
      { name: "mailer", dead: 1 },
    ]);
  });

  it("runs all dead dispatches again in one run, however many there are", async () => {
    const count = 510;
    await store.registerHandlers([ledger]);
    await saved(store, { events: Array.from({ length: count }, (_, index) => event(`e${index}`)) });
    const claims = await claimed(store, [ledger], { limit: count });
    // One claim gives a limited number of new events their dispatches.
    while (claims.length < count) claims.push(...(await claimed(store, [ledger], { limit: count })));
    await store.transaction(async (tx) => {
      for (const { event: of, handler, fence } of claims)
        await store.settle(tx, { eventId: of.id, handler, fence, state: "dead", error: "timeout" });
    });
    const would = await handlers("retry", "ledger", "--json");
    const page = documentOf(would);
    expect([page.dispatches.length < count, page.more]).toEqual([true, true]);
    expect(would.stderr).toContain(`There are more; these are the first ${page.dispatches.length}.\n`);
    const applied = await handlers("retry", "ledger", "--apply", "--by", "Amina", "--json");
    expect(applied.stderr).not.toContain("There are more");
    const retried = documentOf(applied);
    expect([retried.dispatches.length, retried.more]).toEqual([count, false]);
    const { outcome } = documentOf(await handlers("retry", "--run", retried.run, "--json"));
    expect(outcome).toMatchObject({ done: 0, dead: 0, waiting: count, retired: 0 });
  });

  it("shows the order of each dispatch beside its payment", async () => {
    await store.registerHandlers([ledger]);
    await saved(store, { created: [payment("c-1")], events: [event("e-1", { clientId: "c-1" })] });
    for (const claim of await claimed(store, [ledger]))
      await settled(store, claim, { state: "dead", error: "Error: timeout" });
    expect((await handlers("retry")).stdout).toMatch(/ order-of-c-1 +payment\.completed +c-1 +ledger\n/);
  });

  it("does nothing at a second pause or limit with the key of an earlier one", async () => {
    await store.registerHandlers([ledger]);
    const pause = ["pause", "ledger", "--reason", "down", "--by", "Amina", "--key", "click-1"];
    const limit = (perSecond: string) =>
      handlers("limit", "ledger", "--per-second", perSecond, "--by", "Amina", "--key", "click-2");
    await handlers(...pause);
    await handlers("resume", "ledger", "--by", "Said");
    expect((await handlers(...pause)).stdout).toBe("ledger: runs (it was so before)\n");
    expect((await limit("2")).stdout).toBe("ledger: 2 a second\n");
    expect((await limit("none")).stdout).toBe("ledger: 2 a second (it was so before)\n");
    expect(documentOf(await handlers("list", "--json")).handlers[0].changes).toMatchObject([
      { did: "paused", by: "Amina", key: "click-1" },
      { did: "resumed", by: "Said" },
      { did: "limited", by: "Amina", key: "click-2" },
    ]);
  });

  it("retires what waits for a name, or only for one event, and leaves other handlers alone", async () => {
    const overdue = { ...mailer, event: "payment.overdue" } as const;
    await withEvents(store, [ledger, mailer, overdue], 2);
    await saved(store, { events: [event("e4", { type: "payment.overdue" })] });
    expect(await handlers("retire", "ledger", "--by", "Amina")).toMatchObject({
      code: 0,
      stdout: "ledger is retired. 2 of its dispatches were unfinished.\n",
    });
    expect(documentOf(await handlers("retire", "ledger", "--by", "Amina", "--json"))).toEqual({
      handler: "ledger",
      retired: 0,
    });
    expect((await handlers("retire", "leger", "--by", "Amina")).stdout).toContain(
      "Is the name right? The store also has: mailer.",
    );
    const why = ["--by", "Amina", "--reason", "no more overdue mails"];
    await handlers("retire", "mailer", "--event", "payment.overdue", ...why);
    expect(documentOf(await handlers("list", "mailer", "--json")).handlers[0].changes).toMatchObject([
      { did: "retired", by: "Amina", reason: "no more overdue mails" },
    ]);
    expect(pairs(await claimed(store, [ledger, mailer, overdue]))).toEqual(["e0 mailer", "e1 mailer"]);
  });

  it.each([
    [["puase", "ledger"], 2, "Did you mean pause?"],
    [["pause"], 2, "tillkit handlers pause needs <handler>"],
    [["pause", "ledger", "mailer"], 2, "one <list|pause|resume|limit|retry|retire> and one <handler>"],
    [["pause", "ledger", "--by", "Amina"], 2, "--reason is missing"],
    [["pause", "ledger"], 2, "--by and --reason are missing"],
    [["limit", "ledger"], 2, "--per-second is missing"],
    [["resume", "ledger"], 2, "--by is missing"],
    [["resume", "ledger", "--by", "A", "--apply"], 2, "--apply cannot be used with resume"],
    [["limit", "ledger", "--per-second", "few"], 2, "--per-second must be a number"],
    [["list", "leger"], 3, "Did you mean ledger?"],
    [["retry", "leger"], 3, "Did you mean ledger?"],
    [["retry", "--apply"], 2, "--by is missing"],
    [["retire", "ledger"], 2, "--by is missing"],
    [["retry", "--event", "payment.complete"], 2, "type must be one of payment.completed, "],
    [["retry", "--since", "yesterday"], 2, "--since must be a UTC day"],
    [["pause", "leger", "--by", "A", "--reason", "r"], 3, "Did you mean ledger?"],
  ])("explains what is wrong with %j", async (argv, code, said) => {
    await store.registerHandlers([ledger]);
    const ran = await handlers(...argv);
    expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(said)]);
  });

  it.each([
    [["list"], []],
    [
      ["pause", "ledger"],
      ["by", "key", "reason"],
    ],
    [
      ["resume", "ledger"],
      ["by", "key", "reason"],
    ],
    [
      ["limit", "ledger"],
      ["by", "key", "per-second"],
    ],
    [["retry"], ["apply", "by", "error", "event", "event-id", "reason", "run", "since"]],
    [
      ["retire", "ledger"],
      ["by", "event", "reason"],
    ],
  ])("accepts with %j only the options %j", async (argv, names) => {
    expect(await acceptedOptions("handlers", argv)).toEqual(names);
  });
});
