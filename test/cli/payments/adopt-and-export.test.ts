import { fieldsSignature, type SignedField } from "tillkit";
import { sqliteStore } from "tillkit/sql";
import { at, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, secret, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const payments = (argv: string[], stdin = "") =>
  runCli(["payments", ...argv, "--store", file], { cwd: folder.path, stdin });
const who = ["--by", "Amina", "--reason", 'of the "old" shop, 2024'];
const order = ["adopt", "c-1", "--reference", "order-1", "--amount", "1475", "--currency", "KMF", ...who];

beforeAll(async () => {
  const kit = testKit({ store: sqliteStore(file), spool: false });
  await kit.receiveWebhook(signed(completedBody()));
  await closeAll();
});

describe("tillkit payments adopt", () => {
  it("shows what it would store, and stores nothing without a yes", async () => {
    const shown = await payments(order);
    expect(shown).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("--apply adopts the payment") as string,
    });
    expect(shown.stdout).toContain(
      "c-1: order order-1, 1475 KMF.\nThe payment's webhook matches: the payment would be completed.\n" +
        "Without --service-id, the first matching webhook names the payment's id at the service: 64f0c0ffee64f0c0ffee64f0.",
    );
    for (const [at, value] of [
      [1, "c 1"],
      [3, ""],
      [3, "a\nb"],
      [5, "many"],
      [7, "francs!"],
    ] as const)
      expect(await payments(order.with(at, value))).toMatchObject({ code: 2 });
    expect(await payments([...order, "--service-id", "\n"])).toMatchObject({ code: 2 });
    expect(await payments([...order, "--service-id", "s\n1"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("error service_id_invalid") as string,
    });
    const wrong = await payments(order.with(5, "1745"));
    expect(wrong.stdout).toContain(
      "c-1: order order-1, 1745 KMF.\nThe payment's webhook does not match: total.value: expected 1745, got 1475.",
    );
    expect(documentOf(await payments([...order, "--json"]))).toMatchObject({
      adopted: false,
      dryRun: true,
      webhooks: [{ outcome: "applied" }],
    });
    const before = ["--json", "payments", ...order, "--store", file];
    expect(await runCli(before, { cwd: folder.path, stdin: "y\n" })).toMatchObject({ code: 1 });
    expect(documentOf(await payments(["show", "c-1", "--json"]))).not.toHaveProperty("payment");
  });

  it("says that no webhook names the payment", async () => {
    const { stdout } = await payments(["adopt", "c-9", ...order.slice(2).with(1, "order-9")]);
    expect(stdout).toBe(
      "c-9: order order-9, 1475 KMF.\nNo waiting webhook names this payment.\n" +
        "Nothing was changed; --apply adopts the payment.\n",
    );
  });

  it("says nothing of the webhook's id at the service if --service-id gives this id", async () => {
    const { stdout } = await payments([...order, "--service-id", "64f0c0ffee64f0c0ffee64f0"]);
    expect(stdout).toContain("The payment's webhook matches: the payment would be completed.");
    expect(stdout).not.toContain("--service-id");
  });

  it("names every option that is missing, and refuses another amount than the webhook's without storing it", async () => {
    expect((await payments(["adopt", "c-1"])).stderr).toContain(
      "--reference, --amount, --currency, --by and --reason are missing.",
    );
    const wrong = order.map((one) => (one === "KMF" ? "francs" : one));
    expect(await payments([...wrong, "--apply"])).toMatchObject({ code: 2 });
  });

  it("decides a webhook with a signature over fields only where it is told whether the application asks the service first", async () => {
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    const kit = testKit({ store: sqliteStore(file), spool: false, signature });
    await kit.receiveWebhook(signed(completedBody({ clientId: "c-2", id: "s-2" }), signature));
    await closeAll();
    const other = ["adopt", "c-2", ...order.slice(2).with(1, "order-2"), "--apply"];
    expect(await payments(other)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "Give --confirm=lookup if the application sets `confirm`, or otherwise --confirm=none",
      ) as string,
    });
    expect(documentOf(await payments(["show", "c-2", "--json"]))).not.toHaveProperty("payment");
    expect(await payments([...other.slice(0, -1), "--confirm", "none"])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("the payment would be completed") as string,
    });
    expect(await payments([...other, "--confirm", "lookup"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The payment is adopted now, and is pending.") as string,
    });
  });

  it("asks so too where a thousand webhooks that are signed as a whole came first", async () => {
    const store = sqliteStore(file);
    const webhooks = Array.from({ length: 1001 }, (_, index) =>
      webhook(`w-${index}`, { clientId: "c-6", outcome: "unmatched", receivedAt: at(1) }),
    );
    const fields: readonly SignedField[] = ["id", "clientId", "status", "total.value", "total.currency"];
    const weak = webhook("w-weak", {
      clientId: "c-6",
      outcome: "unmatched",
      receivedAt: at(2),
      covers: fields,
    });
    await saved(store, { webhooks: [...webhooks, weak] });
    await store.close();
    expect(await payments(["adopt", "c-6", ...order.slice(2).with(1, "order-6"), "--apply"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Give --confirm=lookup if") as string,
    });
  });

  it("says that a webhook waits for the service's confirmation", async () => {
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    const kit = testKit({ store: sqliteStore(file), spool: false, signature });
    await kit.receiveWebhook(signed(completedBody({ clientId: "c-3", id: "s-3" }), signature));
    await closeAll();
    const other = ["adopt", "c-3", ...order.slice(2).with(1, "order-3"), "--confirm", "lookup"];
    expect((await payments(other)).stdout).toContain(
      "The payment's webhook waits until the service confirms it: the payment would be pending.",
    );
  });

  it("refuses to store it beside a webhook that does not fit, unless it is told to", async () => {
    const kit = testKit({ store: sqliteStore(file), spool: false });
    await kit.receiveWebhook(signed(completedBody({ clientId: "c-4", id: "s-4" })));
    await closeAll();
    const wrong = ["adopt", "c-4", "--reference", "order-4", ...order.slice(4).with(1, "1745"), "--apply"];
    expect(await payments(wrong.slice(0, -1))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("Nothing was changed; --apply adopts the payment.") as string,
    });
    expect(await payments(wrong)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--despite-mismatch") as string,
    });
    expect(documentOf(await payments(["show", "c-4", "--json"]))).not.toHaveProperty("payment");
    expect(await payments([...wrong, "--despite-mismatch"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The payment is adopted now, and is pending.") as string,
    });
  });

  it("adds the service's id to a stored payment only after a yes", async () => {
    const kit = testKit({ store: sqliteStore(file), spool: false });
    const { serviceId: _, ...stored } = pendingPayment({ clientId: "c-5", reference: "order-5" });
    await kit.store.transaction((tx) => kit.store.save(tx, { created: [stored] }));
    await closeAll();
    const again = ["adopt", "c-5", "--reference", "order-5", ...order.slice(4), "--service-id", "s-5"];
    const serviceIdNow = async (): Promise<unknown> =>
      documentOf(await payments(["show", "c-5", "--json"])).payment.serviceId;
    expect(await payments(again)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("the service's id s-5 would be added to it") as string,
    });
    expect(await serviceIdNow()).toBeUndefined();
    expect(await payments([...again, "--apply"])).toMatchObject({ code: 0 });
    expect(await serviceIdNow()).toBe("s-5");
  });

  it("stores it after a yes, once, and keeps who did it and why", async () => {
    expect(await payments(order, "y\n")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The payment is adopted now, and is completed.") as string,
    });
    expect(await payments([...order, "--apply"])).toMatchObject({
      code: 0,
      stdout: "The store already had this payment, which is completed.\n",
    });
    expect(await payments([...order.with(5, "9"), "--apply"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("adoption_conflict") as string,
    });
    const { entries } = documentOf(await payments(["show", "order-1", "--json"]));
    const adopted = entries.filter(({ kind }: { kind: string }) => kind === "resolution");
    expect(adopted).toMatchObject([
      { action: "adopted", by: "Amina", reason: 'of the "old" shop, 2024', after: "completed" },
    ]);
  });
});

describe("tillkit payments export", () => {
  it("writes a line of CSV for each entry, with who, why and after", async () => {
    const { code, stdout, stderr } = await payments(["export"]);
    const [header, ...lines] = stdout.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(stderr).toContain("4 payments.");
    expect(header).toBe(
      "clientId,order,amount,currency,state,at,kind,action,did,by,reason,before,after,receiptId,eventId,text",
    );
    expect(lines.find((line) => line.startsWith("c-1,") && line.includes(",resolution,"))).toMatch(
      /^c-1,order-1,1475,KMF,completed,[^,]+,resolution,adopted,,Amina,"of the ""old"" shop, 2024",,completed,,,"adopted by Amina /,
    );
  });

  it("writes a document for each payment that is selected, or of the one that is named", async () => {
    const selected = await payments(["export", "--json", "--reference", "order-1"]);
    expect(documentOf(selected)).toMatchObject({
      clientId: "c-1",
      entries: expect.arrayContaining([expect.objectContaining({ kind: "webhook" })]) as unknown,
    });
    // The lines of CSV would be here, as all text for people.
    expect(selected.stderr).toBe("1 payment.\n");
    expect(documentOf(await payments(["export", "order-1", "--json"]))).toMatchObject({ clientId: "c-1" });
    expect(await payments(["export", "--to", "2020-01-01"])).toMatchObject({ code: 1 });
    expect(await payments(["export", "nobody"])).toMatchObject({ code: 1 });
  });
});
