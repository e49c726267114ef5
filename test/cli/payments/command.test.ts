import { writeFileSync } from "node:fs";
import { sqliteStore } from "tillkit/sql";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import {
  at,
  event,
  ledger,
  mailer,
  payment,
  resolution,
  webhook,
} from "../../../src/store/exam/checks/fixtures.js";
import { claimed, saved, settled } from "../../../src/store/exam/checks/steps.js";
import { completedBody } from "../../support/webhooks.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const payments = (...argv: string[]) => runCli(["payments", ...argv, "--store", file], { cwd: folder.path });
const idsOf = async (...argv: string[]) =>
  documentOf(await payments(...argv, "--json"))
    .payments.map(({ clientId }: { clientId: string }) => clientId)
    .toSorted();

beforeAll(async () => {
  const store = sqliteStore(file);
  const reported = {
    at: at(9),
    by: "webhook",
    status: "completed",
    verified: ["status"],
    providerId: "MVK-778",
  } as never;
  await saved(store, {
    created: [
      payment("c-1", { reference: "order-7", serviceId: "s-1", createdAt: at(1), returnKeyHash: "a-hash" }),
      payment("c-4", {
        reference: "S-9",
        serviceId: "s-4",
        state: "completed",
        createdAt: "2023-05-01T10:00:00.000Z",
      }),
      payment("c-2", { reference: "order-7", state: "failed", open: false, createdAt: at(2) }),
      payment("c-3", {
        total: { value: "3500.00", currency: "KMF" },
        received: { value: "3450", currency: "KMF" },
        createdAt: "2024-05-02T23:59:59.000Z",
        reported,
      }),
    ],
    webhooks: [
      webhook("w-1", { clientId: "c-1", outcome: "mismatch", reason: "total.value: expected 1475, got 14" }),
      webhook("w-2", { clientId: "c-lost", outcome: "unmatched" }),
      webhook("w-4", {
        clientId: "m-1",
        outcome: "foreign",
        rawBody: Buffer.from('{"providerId":"HOL-C109"}'),
      }),
      webhook("w-5", {
        clientId: "m-2",
        outcome: "foreign",
        rawBody: Buffer.from(JSON.stringify(completedBody({ clientId: "m-2" }))),
      }),
      webhook("w-3", { clientId: "c-lost", outcome: "unmatched", receivedAt: at(4) }),
    ],
  });
  await keepClaim(store, { clientId: "c-2", createdAt: at(2) }, { number: "PP 2405.77", at: at(3) });
  await keepClaim(store, { clientId: "c-1", createdAt: at(1) }, { number: "mvk 778", at: at(3) });
  await store.close();
});

describe("tillkit payments", () => {
  it.each([
    [["export", "c-1", "--state", "failed"], "--state cannot be used with the name of one payment"],
    [["export", "c-1", "--reference", "order-7"], "--reference cannot be used with the name of one payment"],
    [["export", "c-1", "--from", "2030-01-01"], "--from cannot be used with the name of one payment"],
    [["export", "c-1", "--to", "2030-01-01"], "--to cannot be used with the name of one payment"],
    [["export", "order-7"], "order-7 names 2 payments: c-2, c-1. Give the clientId of one of them"],
    [
      ["refund", "order-7", "--by", "A", "--reason", "r"],
      "order-7 names 2 payments: c-2, c-1. Give the clientId of one of them",
    ],
    [["show", " "], "<text> is empty; give a value, or leave it out."],
  ])("%j is refused", async (argv, message) => {
    expect(await payments(...argv)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it("names no database by an empty text, nor by a file of variables that Node reads otherwise", async () => {
    const run = (...argv: string[]) => runCli(["payments", "list", ...argv], { cwd: folder.path });
    expect(await run("--store", "")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--store is empty"),
    });
    for (const encoding of ["utf8", "utf16le"] as const) {
      writeFileSync(`${folder.path}/shop.env`, "\ufeffTILLKIT_DATABASE=shop.db\r\n", encoding);
      expect(await run("--env-file", "shop.env")).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("shop.env is not UTF-8 without a byte order mark"),
      });
    }
  });

  it.each([
    ["the order", ["order-7"], ["c-1", "c-2"]],
    ["the clientId", ["c-1"], ["c-1"]],
    ["the service's number", ["s-1"], ["c-1"]],
    ["the provider's number, also one that a customer gave", [" MVK-778 "], ["c-1", "c-3"]],
    ["a number that only a customer gave", ["pp240577"], ["c-2"]],
    ["the amount and the day", ["--amount", "3500", "--day", "2024-05-02"], ["c-3"]],
    ["the amount that was received", ["--amount", "3450", "--day", "2024-05-02"], ["c-3"]],
    ["the day", ["--day", "2024-05-01"], ["c-1", "c-2"]],
    ["the order and the day", ["order-7", "--day", "2024-05-01"], ["c-1", "c-2"]],
    ["the order and another day", ["order-7", "--day", "2024-05-02"], []],
    ["the order and another amount", ["order-7", "--amount", "9", "--day", "2024-05-01"], []],
    ["the number in other capitals and signs", ["mvk 778"], ["c-1", "c-3"]],
    ["the number with other spaces", ["Mvk7 78"], ["c-1", "c-3"]],
    ["a number of nobody", ["x-9"], []],
  ])("finds payments by %s", async (_, argv, ids) => {
    expect(await idsOf("find", ...argv)).toEqual(ids);
    expect((await payments("find", ...argv)).code).toBe(ids.length > 0 ? 0 : 1);
  });

  it("finds a payment of another shop by a number in its webhook", async () => {
    const { code, stdout } = await payments("find", "HOL-C109");
    expect(code).toBe(1);
    expect(stdout).toMatch(/another shop's payment has HOL-C109: tillkit payments show m-1 --store /);
  });

  it("offers no command for a payment of another shop", async () => {
    const { code, stdout } = await payments("show", "m-1");
    expect(code).toBe(0);
    expect(stdout).toContain("It is another shop's payment");
    expect(stdout).not.toContain("tillkit ");
    expect((await payments("show", "m-2")).stdout).toContain("The store has no payment m-2 of 1475 KMF");
  });

  it("offers the next step of a stored payment, although its last webhook counted as another shop's", async () => {
    const named = `${folder.path}/adopted.db`;
    const store = sqliteStore(named);
    await saved(store, {
      created: [payment("c-1")],
      webhooks: [webhook("w-1", { clientId: "c-1", outcome: "foreign" })],
    });
    await store.close();
    const { stdout } = await runCli(["payments", "show", "c-1", "--store", named]);
    expect(stdout).not.toContain("another shop's payment");
    expect(stdout).toContain("tillkit resolve accept --client-id c-1 ");
    expect(stdout).toContain(`\nTo look in a statement:\n  tillkit statement <file> --store ${named}\n`);
  });

  it("prints a table that fits the terminal, and no hash of a key", async () => {
    const { stdout } = await payments("find", "order-7");
    expect(stdout).toMatch(/^created \(UTC\) +state +amount +order +clientId +provider\n/);
    expect(stdout).toContain("1475 KMF");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    for (const argv of [["find", "c-1"], ["list"], ["show", "c-1"]])
      expect((await payments(...argv, "--json")).stdout).not.toContain("a-hash");
  });

  it("shows what happened to a payment, and to a clientId that only webhooks name", async () => {
    const { code, stdout } = await payments("show", "c-1");
    expect(code).toBe(0);
    expect(stdout).toContain("c-1: order order-7, 1475 KMF, pending");
    expect(stdout).toContain("expected 1475, got 14");
    expect(stdout).toContain("Same order: c-2, 1475 KMF, failed");
    expect(stdout).not.toContain("payments refund");
    const { stdout: third } = await payments("show", "c-3");
    expect(third).toContain("paid 3450 KMF: 50 too little");
    expect(third).toContain(" --value 3500.00 --service-id <id> --by <name> ");
    expect((await payments("show", "c-4")).stdout).toContain(
      "tillkit payments refund c-4 --amount <amount> --key <transfer> --by",
    );
    expect((await payments("show", "c-lost")).stdout).toContain("The store has no payment c-lost");
    expect(await payments("show", "c-9")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^No payment was found\.\n\s*To search the webhooks too: tillkit payments find c-9 --store \S+\n$/,
      ),
    });
  });

  it("lists the payments that a text names, if there are several, and ends with 1", async () => {
    const { code, stdout } = await payments("show", "order-7");
    expect(code).toBe(1);
    expect(stdout).toMatch(/ c-2 [^]* c-1 [^]*\nFor the history: tillkit payments show <clientId> --store /);
  });

  it("names a clientId that only a webhook has", async () => {
    const { code, stdout } = await payments("find", "c-lost");
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining("A webhook or a decision names c-lost: tillkit payments show c-lost --store "),
    ]);
  });

  it("exports the payments that are selected, the oldest first", async () => {
    const exported = async (...argv: string[]) => {
      const lines = (await payments("export", ...argv)).stdout.trimEnd().split("\n").slice(1);
      return [...new Set(lines.map((line) => line.split(",")[0]))];
    };
    expect(await exported("--from", "2024-05-01")).toEqual(["c-1", "c-2", "c-3"]);
    expect(await exported("--state", "failed")).toEqual(["c-2"]);
    expect(await exported("c-lost")).toEqual(["c-lost"]);
  });

  it("exports a history that has more entries than two pages", async () => {
    const named = `${folder.path}/long.db`;
    const store = sqliteStore(named);
    const webhooks = Array.from({ length: 2001 }, (_, index) =>
      webhook(`w-${index}`, { clientId: "c-1", outcome: "stale", receivedAt: at(index % 60) }),
    );
    await saved(store, { created: [payment("c-1", { serviceId: "s-1" })], webhooks });
    await store.close();
    const { stdout } = await runCli(["payments", "show", "c-1", "--limit", "1", "--store", named]);
    // The evidence needs no service id, because the store has this id.
    expect(stdout).toContain(
      " --client-id c-1 --evidence letter --document <where> --value 1475 --by <name> ",
    );
    const { entries } = documentOf(await runCli(["payments", "export", "c-1", "--json", "--store", named]));
    const ids = (entries as { kind: string; receiptId: string }[]).flatMap(({ kind, receiptId }) =>
      kind === "webhook" ? receiptId : [],
    );
    expect([ids.length, new Set(ids).size]).toEqual([2001, 2001]);
    const times = (entries as { at: string }[]).map((entry) => entry.at);
    expect(times).toEqual(times.toSorted());
  });

  it("shows dispatches that wait, with when they are due, and how a paused handler is resumed", async () => {
    const named = `${folder.path}/waiting.db`;
    const store = sqliteStore(named);
    await store.registerHandlers([ledger, mailer]);
    await saved(store, {
      created: [payment("c-1", { state: "completed", open: false })],
      events: [event("e-1", { clientId: "c-1" })],
    });
    const shown = () => runCli(["payments", "show", "c-1", "--store", named]).then(({ stdout }) => stdout);
    // No process has claimed them yet.
    for (const name of ["ledger", "mailer"])
      expect(await shown()).toContain(`dispatch of payment.completed to ${name}: waits, due now\n`);
    const [claim] = await claimed(store, [ledger]);
    await settled(store, claim!, { state: "failed", error: "Error: timeout", retryInMs: 60_000 });
    const [{ dueAt } = {}] = (await store.history("c-1")).dispatches.filter(
      (one) => one.handler === "ledger",
    );
    expect(await shown()).toContain(`to ledger: waits, due at ${dueAt}: Error: timeout\n`);
    const pause = ["pause", "ledger", "--by", "Amina", "--reason", "down", "--store", named];
    expect((await runCli(["handlers", ...pause])).code).toBe(0);
    await store.close();
    expect(await shown()).toContain("to ledger: waits until the handler is resumed: Error: timeout\n");
    expect(await shown()).toMatch(
      /\nThe handler ledger is paused by Amina: down\n.*\n {4}tillkit handlers resume ledger --by <name> --store /,
    );
  });

  it("prints what people and programs wrote on one line each", async () => {
    const store = sqliteStore(`${folder.path}/lines.db`);
    const forged = "ok\n2024-05-01T10:09:00.000Z  event: payment.refunded";
    await saved(store, {
      created: [payment("c-1", { state: "completed" })],
      resolutions: [resolution("r-1", { clientId: "c-1", action: "dismissed", reason: forged })],
    });
    await store.close();
    const { stdout } = await runCli(["payments", "show", "c-1", "--store", `${folder.path}/lines.db`]);
    expect(stdout).toContain("dismissed by Amina: ok\\n2024-05-01T10:09:00.000Z  event: payment.refunded\n");
  });

  it("names the spelling in capitals where only that one is stored", async () => {
    expect((await payments("find", "mvk-778 ")).stdout).not.toContain("Did you mean");
    const { code, stdout } = await payments("find", "s-9");
    expect([code, stdout]).toEqual([1, expect.stringContaining("Did you mean: tillkit payments find S-9 ")]);
  });

  it("prints commands that have the database, also where a file names it", async () => {
    folder.write("shop.env", `TILLKIT_DATABASE=${file}\n`);
    const given = ["payments", "find", "order-7", "--env-file", "shop.env"];
    const { stdout } = await runCli(given, { cwd: folder.path });
    const [, printed] = /: tillkit (payments show .*)$/m.exec(stdout) ?? [];
    expect(printed).toContain("--env-file shop.env");
    expect((await runCli(printed!.split(" "), { cwd: folder.path })).code).toBe(0);
  });

  it("shows the newest webhooks first, page by page", async () => {
    const first = (await payments("show", "c-lost", "--limit", "1")).stdout;
    expect(first).toContain(at(4));
    expect(first).toContain("tillkit payments adopt c-lost ");
    const cursor = /For older entries: --cursor (\S+)/.exec(first)![1]!;
    const second = (await payments("show", "c-lost", "--limit", "1", "--cursor", cursor)).stdout;
    expect(second).not.toContain(at(4));
    expect(second).not.toContain("--cursor");
    expect(second).not.toContain("payments adopt");
    expect(second).toContain("unmatched");
    expect(await payments("show", "c-lost", "--limit", "0")).toMatchObject({ code: 2 });
  });

  it("lists by state and time, page by page", async () => {
    expect(await idsOf("list", "--state", "pending")).toEqual(["c-1", "c-3"]);
    expect(await idsOf("list", "--from", "2024-05-02")).toEqual(["c-3"]);
    expect(await idsOf("list", "--reference", "order-7", "--to", at(2))).toEqual(["c-1"]);
    const first = documentOf(await payments("list", "--limit", "2", "--json"));
    expect(first.payments).toHaveLength(2);
    expect((await payments("list", "--limit", "2")).stdout).toMatch(
      new RegExp(`\nFor more payments: --cursor ${first.cursor}\n$`),
    );
    expect(await idsOf("list", "--limit", "2", "--cursor", first.cursor)).toEqual(["c-1", "c-4"]);
  });

  it.each([
    [["look"], "tillkit payments needs find, show, refund, adopt, list or export"],
    [["find"], "find needs <text>, or --day"],
    [["find", "--amount", "5"], "--amount needs --day"],
    [["find", "--amount", "5,5", "--day", "2024-05-01"], "--amount must not contain a comma"],
    [["find", "--amount", "14,750", "--day", "2024-05-01"], "without the comma: 14750."],
    [["show"], "show needs <text>"],
    [["list", "c-1"], "list takes no <text>"],
    [["list", "--day", "2024-05-01"], "--day cannot be used with list"],
    [["list", "--limit", "many"], "--limit must be a number"],
  ])("explains what is wrong with %j", async (argv, said) => {
    const { code, stderr } = await payments(...argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });
});
