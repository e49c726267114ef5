import { sqliteStore } from "tillkit/sql";
import { at, payment, resolution } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const who = ["--by", "Amina", "--reason", "one came back", "--store", file];
const refund = (argv: string[], stdin = "") =>
  runCli(["payments", "refund", ...argv, ...who], { cwd: folder.path, stdin });
const show = async (clientId: string) =>
  (await runCli(["payments", "show", clientId, "--store", file], { cwd: folder.path })).stdout;

beforeAll(async () => {
  const store = sqliteStore(file);
  const paid = { state: "completed", open: false } as const;
  const euro = { ...paid, received: { value: "3.00", currency: "EUR" } };
  await saved(store, {
    created: [payment("c-1", paid), payment("c-2", paid), payment("c-3"), payment("c-4", euro)],
  });
  await store.close();
});

describe("tillkit payments refund", () => {
  it("shows what it would record, and records it only after a yes", async () => {
    for (const stdin of ["", "n\n"]) {
      const { code, stdout } = await refund(["c-1", "--amount", "500"], stdin);
      expect([code, stdout]).toEqual([1, expect.stringContaining("refund of 500 of 1475 KMF, 975 KMF left")]);
      expect(stdout).toContain("Nothing was recorded");
    }
    expect(await show("c-1")).not.toContain("refunded");
    const { code, stdout } = await refund(["c-1", "--amount", "500"], "y\n");
    expect([code, stdout]).toEqual([0, expect.stringContaining("The refund is recorded now.")]);
    expect(await show("c-1")).toContain("completed (500 refunded)");
    expect(await show("c-1")).toContain(
      "refunded by Amina: 500 KMF of 1475 KMF, 975 KMF left: one came back",
    );
  });

  it("records the same command once, says so, and takes another key for another refund", async () => {
    const again = await refund(["c-1", "--amount", "500", "--apply"]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("recorded before, by Amina at")]);
    const document = documentOf(await refund(["c-1", "--amount", "500", "--json"]));
    expect(document).toMatchObject({ resolved: false, dryRun: false });
    const other = await refund(["c-1", "--amount", "500", "--key", "second"]);
    expect(other.stdout).toMatch(
      /Another refund is recorded already, by Amina at .*: refund of 500 of 1475 KMF, 975 KMF left\./,
    );
    expect(again.stdout).not.toContain("Another refund");
    const keyed = documentOf(
      await refund(["c-1", "--amount", "500", "--key", "second", "--apply", "--json"]),
    );
    expect(keyed).toMatchObject({
      resolved: true,
      dryRun: false,
      resolution: { refund: { rest: { value: "475" } } },
    });
    expect(await show("c-1")).toContain("refunded by Amina: 500 KMF of 975 KMF, 475 KMF left, key second:");
    const byKey = await runCli(["payments", "find", "Second", "--store", file], { cwd: folder.path });
    expect(byKey.stdout).toContain("tillkit payments show c-1");
    const twice = await refund(["c-1", "--key", "second", "--apply"]);
    expect(twice.stdout).toMatch(/recorded before, .*475 KMF left, key second: one came back/);
    const planned = documentOf(await refund(["c-1", "--json"]));
    expect(planned).toMatchObject({
      resolved: false,
      dryRun: true,
      resolution: { refund: { rest: { value: "0" } } },
    });
  });

  it("keeps a reversal with the row of the statement that shows it", async () => {
    const evidence = ["--evidence", "statement", "--document", "may.csv, line 7"];
    const { code } = await refund(["c-2", "--amount", "75", "--reversal", ...evidence, "--apply"]);
    expect(code).toBe(0);
    expect(await show("c-2")).toContain("reversed by Amina, statement, may.csv, line 7: 75 KMF of 1475 KMF");
  });

  it("keeps evidence in the currency that was received, and offers no refund once all is back", async () => {
    const evidence = ["--evidence", "letter", "--document", "a letter"];
    const { resolution } = documentOf(await refund(["c-4", "--amount", "1.00", ...evidence, "--json"]));
    expect(resolution.evidence.total).toEqual({ value: "1.00", currency: "EUR" });
    expect(await show("c-4")).toContain("tillkit payments refund c-4 ");
    expect(await refund(["c-4", "--apply"])).toMatchObject({ code: 0 });
    expect(await show("c-4")).not.toContain("payments refund");
  });

  it("knows a refund that was recorded before a thousand other decisions about its payment", async () => {
    const store = sqliteStore(file);
    const amount = { value: "500", currency: "KMF" };
    const before = { value: "1475", currency: "KMF" };
    const recorded = {
      kind: "refund",
      amount,
      before,
      rest: { value: "975", currency: "KMF" },
      key: "OLD-9",
    } as const;
    const replays = Array.from({ length: 1000 }, (_, index) =>
      resolution(`r-${index}`, { clientId: "c-5", action: "replayed", at: at(20) }),
    );
    await saved(store, {
      created: [payment("c-5", { state: "completed", open: false, refunded: "500" })],
      resolutions: [resolution("old", { clientId: "c-5", refund: recorded }), ...replays],
    });
    await store.close();
    expect((await refund(["c-5", "--amount", "100"])).stdout).toContain(
      "Another refund is recorded already, by Amina at 2024-05-01T10:09:00.000Z: refund of 500 of 1475 KMF, 975 KMF left, key OLD-9.",
    );
    const byKey = await runCli(["payments", "find", "old 9", "--store", file], { cwd: folder.path });
    expect(byKey.stdout).toContain("tillkit payments show c-5");
  });

  it.each<[number, string, string[]]>([
    [3, "1400 KMF are left", ["c-2", "--amount", "1401"]],
    [3, "only a completed payment", ["c-3"]],
    [3, "the store has no payment c-9", ["c-9"]],
    [2, "amount must be a decimal string", ["c-2", "--amount", "5,5"]],
    [2, "Give both --evidence and --document", ["c-2", "--document", "a letter"]],
    [2, "refund needs <text>", []],
    [2, "--amount is missing", ["c-2", "--evidence", "letter", "--document", "a letter"]],
  ])("exits with %i and says that %s", async (code, said, argv) => {
    expect(await refund([...argv, "--apply"])).toMatchObject({ code, stderr: expect.stringContaining(said) });
  });
});
