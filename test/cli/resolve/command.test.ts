import { sqliteStore } from "tillkit/sql";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { closeAll, testKit } from "../../support/kit.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const resolve = (...argv: string[]) => runCli(["resolve", "--store", file, ...argv], { cwd: folder.path });
const payments = (...argv: string[]) => runCli(["payments", ...argv, "--store", file], { cwd: folder.path });
const who = ["--by", "Amina", "--reason", "lost webhook"];
const row = ["--evidence", "statement", "--document", "november.csv, line 14"];

describe("tillkit resolve", () => {
  beforeAll(async () => {
    const store = sqliteStore(file);
    await saved(store, { created: [pendingPayment()] });
    await store.close();
  });

  it("refuses evidence that is missing, incomplete or about another amount, and changes nothing", async () => {
    const refused = async (code: number, part: string, ...argv: string[]) =>
      expect(await resolve(...argv)).toMatchObject({ code, stderr: expect.stringContaining(part) as string });
    await refused(2, "needs accept, refunded or dismiss", "pay", "--client-id", "c-1", ...who);
    await refused(2, "--by is missing", "accept", "--client-id", "c-1", "--reason", "x");
    await refused(2, "--by and --reason are missing", "accept", "--client-id", "c-1");
    await refused(2, "evidence_missing", "accept", "--client-id", "c-1", ...who);
    await refused(2, "--value is missing", "accept", "--client-id", "c-1", ...who, ...row);
    const accepted = ["accept", "--client-id", "c-1", ...who];
    for (const name of ["document", "value", "currency", "service-id", "provider-id"])
      await refused(2, `--${name} can only be used with --evidence`, ...accepted, `--${name}`, "1");
    await refused(2, "evidence_invalid", ...accepted, ...row, "--value", "1,475");
    const euro = ["--value", "1475", "--currency", "EUR"];
    await refused(3, "expected KMF, got EUR", ...accepted, ...row, ...euro);
    const other = ["accept", "--client-id", "c-1", ...who, ...row, "--value", "1470"];
    await refused(3, "expected 1475, got 1470", ...other);
    await refused(
      3,
      "has no payment nobody",
      "accept",
      "--client-id",
      "nobody",
      ...who,
      ...row,
      "--currency",
      "KMF",
      "--value",
      "1475",
    );
  });

  it("completes a payment from evidence, says so, and says the first decision when it is repeated", async () => {
    const accept = ["accept", "--client-id", "c-1", ...who, ...row, "--value", "1475"];
    const shown = await resolve(...accept, "--json");
    expect(shown.code).toBe(1);
    expect(documentOf(shown)).toMatchObject({ dryRun: true, resolved: false, state: "completed" });
    expect(shown.stderr).toContain("c-1, order order-1, 1475 KMF: accept: pending → completed.");
    const asked = { cwd: folder.path, stdin: "no\n" };
    expect(await runCli(["resolve", "--store", file, ...accept], asked)).toMatchObject({ code: 1 });
    expect(await resolve(...accept, "--apply")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /\nc-1 is completed\. Settled now: accepted by Amina at \S+: lost webhook\n$/,
      ) as string,
    });
    expect(documentOf(await resolve(...accept, "--json"))).toMatchObject({
      resolved: false,
      state: "completed",
      resolution: { evidence: { kind: "statement", document: "november.csv, line 14" } },
    });
    const store = sqliteStore(file);
    const { events } = await store.history("c-1");
    expect(events.map(({ type }) => type)).toEqual(["payment.completed", "payment.resolved"]);
    await store.close();
  });

  it("prints the next command where the accepted payment had been overdue", async () => {
    const store = sqliteStore(file);
    const late = pendingPayment({ clientId: "c-late", reference: "order-late", serviceId: "s-late" });
    await store.transaction((tx) => store.save(tx, { created: [{ ...late, overdueAt: late.createdAt }] }));
    await store.close();
    const accept = ["accept", "--client-id", "c-late", ...who, ...row, "--value", "1475"];
    expect((await resolve(...accept)).stdout).not.toContain("open entry");
    const { stdout } = await resolve(...accept, "--apply");
    expect(stdout).toContain("This payment has an open entry, paid_late:c-late: ");
    expect(stdout).toContain("tillkit attention settle paid_late:c-late ");
    expect((await resolve(...accept, "--apply")).stdout).toMatch(
      /^c-late is completed\. Settled before: .*\n$/,
    );
  });

  it("keeps the ids of the evidence, and refuses those of another payment", async () => {
    const store = sqliteStore(file);
    const payment = { clientId: "c-2", serviceId: "s-2", reference: "order-2" };
    await saved(store, { created: [pendingPayment(payment)] });
    await store.close();
    const accept = ["accept", "--client-id", "c-2", ...who, ...row, "--value", "1475"];
    expect(await resolve(...accept, "--service-id", "s-9")).toMatchObject({ code: 3 });
    const ids = ["--service-id", "s-2", "--provider-id", "MVK-1"];
    expect(documentOf(await resolve(...accept, ...ids, "--json"))).toMatchObject({
      resolution: { evidence: { serviceId: "s-2", providerId: "MVK-1" } },
    });
  });

  it("finds and shows the numbers of accepted evidence", async () => {
    const accept = [
      "accept",
      "--client-id",
      "c-2",
      ...who,
      ...row,
      "--value",
      "1475",
      "--provider-id",
      "MVK-1",
    ];
    expect(await resolve(...accept, "--apply")).toMatchObject({ code: 0 });
    expect((await payments("find", "mvk 1")).stdout).toContain("order-2");
    expect((await payments("show", "MVK-1")).stdout).toContain(
      "accepted by Amina (pending → completed), statement, november.csv, line 14, MVK-1: lost webhook",
    );
  });

  it("says what was paid instead of what was asked, before and after it is accepted", async () => {
    const store = sqliteStore(file);
    const payment = { clientId: "c-3", serviceId: "s-3", reference: "order-3" };
    await saved(store, { created: [pendingPayment(payment)] });
    const body = completedBody({ clientId: "c-3", id: "s-3", total: { value: "14750", currency: "KMF" } });
    await testKit({ store, spool: false }).receiveWebhook(signed(body));
    const { receiptId } = (await store.history("c-3")).webhooks[0]!;
    await closeAll();
    const accept = ["accept", "--receipt-id", receiptId, ...who];
    const paid = "paid 14750 KMF: 13275 too much";
    expect((await resolve(...accept)).stdout).toContain(
      `c-3, order order-3, 1475 KMF: accept: pending → completed (${paid}).`,
    );
    expect(await resolve(...accept, "--apply")).toMatchObject({ code: 0 });
    expect((await payments("show", "c-3")).stdout).toContain(`1475 KMF, completed (${paid})`);
    expect((await payments("list")).stdout).toContain(`\n  order-3: ${paid}\n`);
    const [day] = pendingPayment().createdAt.split("T");
    expect((await payments("find", "--amount", "14750", "--day", day!)).stdout).toContain("order-3");
  });

  it("settles the webhook that --receipt-id names", async () => {
    const store = sqliteStore(file);
    const webhooks = ["r-1", "r-2"].map((receiptId) =>
      webhook(receiptId, { receiptId, outcome: "unmatched", clientId: "nobody" }),
    );
    await saved(store, { webhooks });
    await store.close();
    expect((await resolve("dismiss", "--receipt-id", "r-1", ...who)).stdout).toContain(
      "nobody: dismiss: unmatched → dismissed.",
    );
    const done = documentOf(await resolve("dismiss", "--receipt-id", "r-2", ...who, "--apply", "--json"));
    expect(done).toEqual({
      resolution: expect.objectContaining({ receiptId: "r-2" }) as unknown,
      resolved: true,
    });
  });

  it("keeps each kind of evidence, and needs the webhook of evidence from a webhook", async () => {
    const store = sqliteStore(file);
    await saved(store, {
      created: [pendingPayment({ clientId: "c-4", serviceId: "s-4", reference: "order-4" })],
    });
    await store.close();
    const accept = (kind: string) =>
      resolve(
        "accept",
        "--client-id",
        "c-4",
        ...who,
        "--document",
        "note 7",
        "--value",
        "1475",
        "--evidence",
        kind,
        "--json",
      );
    for (const kind of ["statement", "lookup", "letter"])
      expect(documentOf(await accept(kind))).toMatchObject({ resolution: { evidence: { kind } } });
    const { stderr } = await accept("webhook");
    expect(stderr).toContain("receiptId");
  });

  it.each([
    ["--document", "--value"],
    ["--value", "--document"],
  ])("needs beside --evidence and %s also %s", async (given, missing) => {
    const argv = ["accept", "--client-id", "c-1", ...who, "--evidence", "letter", given, "1"];
    // The command checks the options before the database, which is not named here.
    expect((await runCli(["resolve", ...argv])).stderr).toContain(`${missing} is missing.`);
  });
});
