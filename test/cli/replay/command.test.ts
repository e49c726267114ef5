import { type SignedField } from "tillkit";
import { sqliteStore, type SqlTx } from "tillkit/sql";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const replay = (...argv: string[]) => runCli(["replay", "--store", file, ...argv], { cwd: folder.path });

/** Uses a kit on the same file, and closes it before the command runs. */
async function withKit<T>(
  use: (payments: ReturnType<typeof testKit<SignedField, SqlTx>>) => Promise<T>,
  options: Partial<Parameters<typeof testKit<SignedField, SqlTx>>[0]> = {},
): Promise<T> {
  const payments = testKit<SignedField, SqlTx>({ store: sqliteStore(file), spool: false, ...options });
  try {
    return await use(payments);
  } finally {
    await closeAll();
  }
}

describe("tillkit replay", () => {
  it("prints webhooks that would be decided differently, and changes them with --apply, once", async () => {
    await withKit(
      async (payments) => {
        await payments.receiveWebhook(signed(completedBody()));
        await payments.store.transaction((tx) => payments.store.save(tx, { created: [pendingPayment()] }));
      },
      { clientIdPrefix: "north-" },
    );
    const would = await replay("--json", "--outcome", "foreign");
    expect(would.code).toBe(1);
    expect(documentOf(would)).toMatchObject({
      dryRun: true,
      looked: 1,
      changed: 1,
      changes: [
        { clientId: "c-1", from: "foreign", to: "applied", state: { from: "pending", to: "completed" } },
      ],
    });
    await withKit(async (payments) => expect(await payments.find("c-1")).toMatchObject({ state: "pending" }));

    const did = await replay("--apply");
    expect(did.code).toBe(0);
    expect(did.stdout).toContain("foreign → applied, payment pending → completed");
    expect(did.stdout).toContain("1 webhooks read; 1 were decided differently.");
    await withKit(async (payments) =>
      expect(await payments.find("c-1")).toMatchObject({ state: "completed" }),
    );
    expect(documentOf(await replay("--json"))).toMatchObject({ changed: 0 });
    expect((await replay()).code).toBe(0);
  });

  it("gives dead dispatches their attempts again, and the application runs them", async () => {
    const dispatch = { maxFailures: 1, pollMs: 5 };
    await withKit(
      async (payments) => {
        const dead = new Promise((resolve) => payments.on("dispatch.dead", resolve));
        payments.onPaymentCompleted(() => Promise.reject(new Error("the ledger is closed")), {
          name: "books",
        });
        await payments.start({ keepAlive: false });
        const again = { ...pendingPayment(), clientId: "c-2", reference: "o-2", serviceId: "s-2" };
        await payments.store.transaction((tx) => payments.store.save(tx, { created: [again] }));
        await payments.receiveWebhook(signed(completedBody({ clientId: "c-2", id: "s-2" })));
        await dead;
      },
      { dispatch },
    );
    const would = await replay("--dead", "--json");
    expect(would.code).toBe(1);
    expect(documentOf(would)).toMatchObject({
      dryRun: true,
      dispatches: [
        { handler: "books", clientId: "c-2", state: "dead", error: expect.stringContaining("closed") },
      ],
    });
    expect((await replay("--dead", "--handler", "others", "--apply")).stdout).toContain(
      "0 dead dispatches run again.",
    );

    const did = await replay("--dead", "--handler", "books", "--apply");
    expect(did).toMatchObject({ code: 0, stdout: expect.stringContaining("1 dead dispatches run again.") });
    await withKit(
      async (payments) => {
        const handled = new Promise<string>((resolve) => {
          payments.onPaymentCompleted(({ payment }) => resolve(payment.clientId), { name: "books" });
        });
        await payments.start({ keepAlive: false });
        expect(await handled).toBe("c-2");
      },
      { dispatch },
    );
  });

  it.each([
    [["--handler", "books"], 2, "--handler can only be used with --dead."],
    [["--dead", "--outcome", "foreign"], 2, "--outcome cannot be used with --dead."],
    [["--dead", "--event", "payment.complete", "--apply"], 2, "type must be one of payment.completed, "],
    [["--from", "yesterday"], 2, "--from must be a time"],
  ])("ends with 2 for %j", async (argv, code, said) => {
    const ran = await replay(...argv);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(said);
  });

  it("creates no database", async () => {
    const { code, stderr } = await runCli(["replay", "--store", `${folder.path}/none.db`]);
    expect(code).toBe(3);
    expect(stderr).toContain("none.db.");
  });

  it("works in production too, where sandbox keys and unsafe stores are refused", async () => {
    const before = process.env["NODE_ENV"];
    process.env["NODE_ENV"] = "production";
    try {
      expect((await replay("--outcome", "applied")).code).toBe(0);
    } finally {
      process.env["NODE_ENV"] = before;
    }
  });
});
