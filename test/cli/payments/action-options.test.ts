import { acceptedOptions } from "../support/accepted-options.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";
import { sqliteStore } from "tillkit/sql";
import { payment } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";

const folder = temporaryFolder();
const selection = ["from", "reference", "state", "to"];

describe("an action of tillkit payments", () => {
  it.each([
    [["find"], ["amount", "day"]],
    [
      ["show", "c-1"],
      ["cursor", "limit"],
    ],
    [
      ["refund", "c-1"],
      ["amount", "apply", "by", "document", "evidence", "key", "reason", "reversal"],
    ],
    [
      ["adopt", "c-1"],
      [
        "amount",
        "apply",
        "by",
        "confirm",
        "currency",
        "despite-mismatch",
        "reason",
        "reference",
        "service-id",
      ],
    ],
    [["list"], ["cursor", "from", "limit", "reference", "state", "to"]],
    [["export"], selection],
  ])("accepts with %j only the options %j", async (argv, names) => {
    expect(await acceptedOptions("payments", argv)).toEqual(names);
  });

  it("selects every state, and selects by each of the options with list and export", async () => {
    const store = sqliteStore(`${folder.path}/shop.db`);
    const states = ["creating", "pending", "uncertain", "failed", "canceled", "completed"] as const;
    const created = states.map((state, index) =>
      payment(`c-${state}`, { state, createdAt: `2024-05-0${index + 1}T10:00:00.000Z` }),
    );
    await saved(store, { created });
    await store.close();
    const ids = async (action: string, ...argv: string[]): Promise<string[]> => {
      const { stdout } = await runCli(["payments", action, ...argv, "--store", `${folder.path}/shop.db`]);
      return [...new Set(stdout.match(/\bc-[a-z]+\b/g))].toSorted();
    };
    for (const action of ["list", "export"]) {
      for (const state of states) expect(await ids(action, "--state", state)).toEqual([`c-${state}`]);
      expect(await ids(action, "--reference", "order-of-c-failed")).toEqual(["c-failed"]);
      expect(await ids(action, "--from", "2024-05-05")).toEqual(["c-canceled", "c-completed"]);
      expect(await ids(action, "--to", "2024-05-03")).toEqual(["c-creating", "c-pending"]);
    }
  });

  it.each(["statement", "lookup", "letter"])("keeps the evidence %s of a refund", async (kind) => {
    const evidence = ["--evidence", kind, "--document", "note 7", "--amount", "75"];
    const who = ["--by", "Amina", "--reason", "one came back", "--store", `${folder.path}/shop.db`];
    const ran = await runCli(["payments", "refund", "c-completed", ...evidence, ...who, "--json"]);
    expect(documentOf(ran)).toMatchObject({ resolution: { evidence: { kind, document: "note 7" } } });
  });

  it("needs the person and the reason of a refund", async () => {
    const { code, stderr } = await runCli([
      "payments",
      "refund",
      "c-failed",
      "--store",
      `${folder.path}/shop.db`,
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--by and --reason are missing.")]);
  });
});
