import { type PaymentHistory } from "tillkit";
import { sqliteStore } from "tillkit/sql";
import { testPayments, type TestPaymentsOptions, type TestPayments } from "tillkit/testing";
import { documentOf, runCli, temporaryFolder } from "../../cli/support/run-cli.js";

const folder = temporaryFolder();
const who = ["--by", "Amina", "--reason", "the customer called"];
const order = (reference: string, value = "1475") => ({ reference, total: { value, currency: "KMF" } });
let calls = 0;
let file = "";
let books = { isDown: false };
beforeEach(() => {
  file = `${folder.path}/call-${++calls}.db`;
  books = { isDown: false };
});

/** Lets the shop and the service do something, and ends both. The command line then has only the file. */
async function shop(
  use: (shop: TestPayments) => Promise<unknown>,
  options: Omit<TestPaymentsOptions<never, never>, "store"> = {},
): Promise<void> {
  const one = await testPayments({ ...(options as object), store: sqliteStore(file) });
  one.payments.onPaymentCompleted(
    async () => {
      if (books.isDown) throw new Error("connect ECONNREFUSED");
    },
    { name: "books" },
  );
  try {
    // Somebody else's order, which nothing is wrong with.
    if (calls !== 0 && !(await one.payments.list({ reference: "A-1" })).payments[0])
      await one.pay(order("A-1", "900"));
    await use(one);
    await one.settled();
  } finally {
    await one.close();
  }
}

const tillkit = (...argv: string[]) => runCli(argv, { cwd: folder.path, env: { TILLKIT_DATABASE: file } });
const shown = async (text: string): Promise<PaymentHistory> =>
  documentOf(await tillkit("payments", "show", text, "--json"));
const outputOf = async (...argv: string[]) => (await tillkit(...argv)).stdout;
/** Runs a command that a person has copied from the output of another one, and filled in. */
const copied = (line: string, ...added: string[]) => {
  const filled = line.replace("<name>", "Amina").replace("<why>", "statement").replace("<order>", "A-9");
  const parts = [...filled.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  return tillkit(...parts.slice(1), ...added);
};
/** Returns the command of an output, from its beginning to the end of its sentence. */
const commandIn = (output: string, start: string): string =>
  new RegExp(`${start}[^\\n]*?(?=\\.? |\\.?$)`, "m").exec(output.replaceAll(/\n {2}(?! )/g, " "))?.[0] ??
  output;

describe("a call to support is solved with the command line alone:", () => {
  it("1. paid, and nothing came: the handler died once, and runs again", async () => {
    books.isDown = true;
    await shop(({ pay }) => pay(order("A-117")));
    const told = await outputOf("payments", "show", "A-117");
    expect(told).toContain("All attempts of the handler books for");
    const eventId = /--event-id\s+(\S+)/.exec(told)![1]!;
    const retry = ["handlers", "retry", "books", "--event-id", eventId, "--apply", ...who];
    expect(await tillkit(...retry)).toMatchObject({ code: 0 });
    books.isDown = false;
    await shop(async () => {});
    const { entries, attention } = await shown("A-117");
    expect(attention).toEqual([]);
    expect(entries).toContainEqual(expect.objectContaining({ kind: "retry", by: "Amina", handler: "books" }));
    expect(entries).toContainEqual(expect.objectContaining({ kind: "dispatch", state: "done" }));
  });

  it("2. paid twice: the second payment is paid back, once", async () => {
    await shop(async ({ payments, sandbox }) => {
      const first = await payments.create(order("A-117"));
      sandbox.scenario("paid-twice", { for: first.clientId });
      await sandbox.cancel(first.clientId);
      await fetch(sandbox.find(first.clientId)!.cancelUrl);
      const second = await payments.create(order("A-117"));
      await sandbox.pay(second.clientId);
      await sandbox.settled();
    });
    const list = documentOf(await tillkit("attention", "list", "--json"));
    const [{ clientId }] = list.entries.filter(({ rule }: { rule: string }) => rule === "paid_twice");
    const refund = ["payments", "refund", clientId, ...who, "--apply"];
    expect(await tillkit(...refund)).toMatchObject({ code: 0 });
    expect(await outputOf(...refund)).toContain("It was recorded before, by Amina");
    expect(await tillkit("attention", "list")).toMatchObject({ code: 0 });
  });

  it("3. a wrong amount: it is accepted as the webhook says", async () => {
    await shop(async ({ payments, sandbox }) => {
      const { clientId } = await payments.create(order("A-117"));
      sandbox.scenario("amount-changed", { for: clientId });
      await sandbox.pay(clientId);
    });
    const told = await outputOf("payments", "show", "A-117");
    expect(told).toContain("expected 1475, got 14750");
    const accept = [
      "resolve",
      "accept",
      "--receipt-id",
      /accept\s+--receipt-id\s+([\w-]+)/.exec(told)![1]!,
      ...who,
    ];
    expect(await tillkit(...accept)).toMatchObject({ code: 1 });
    expect(await tillkit(...accept, "--apply")).toMatchObject({ code: 0 });
    expect(await shown("A-117")).toMatchObject({ payment: { state: "completed" }, attention: [] });
  });

  it("4. the webhook was lost, and the statement proves the payment", async () => {
    await shop(async ({ payments, sandbox }) => {
      const { clientId } = await payments.create(order("A-117"));
      sandbox.scenario("webhook-never", { for: clientId });
      await sandbox.pay(clientId);
      writeStatement(sandbox.payments());
    });
    const { findings } = documentOf(await tillkit("statement", "statement.csv", "--json"));
    expect(findings).toMatchObject([{ kind: "unpaid_here", line: 3 }]);
    expect(await copied(findings[0].next, "--apply")).toMatchObject({ code: 0 });
    expect((await shown("A-117")).payment).toMatchObject({ state: "completed" });
    expect(await tillkit("statement", "statement.csv")).toMatchObject({ code: 0 });
  });

  it("5. canceled, then paid: the order is delivered after all", async () => {
    await shop(
      async ({ payments, sandbox }) => {
        const { clientId } = await payments.create(order("A-117"));
        await sandbox.cancel(clientId);
        await sandbox.pay(clientId);
      },
      { sandbox: { cancelWebhook: true } },
    );
    const { attention } = await shown("A-117");
    expect(attention).toMatchObject([{ rule: "paid_late" }]);
    const settle = ["attention", "settle", attention[0]!.id, ...who, "--apply"];
    expect(await tillkit(...settle)).toMatchObject({ code: 0 });
    expect((await shown("A-117")).attention).toEqual([]);
  });

  it("6. a handler is broken for an hour: one command each pauses it, lets it run, and runs the dead ones again", async () => {
    books.isDown = true;
    await shop(({ pay }) => pay(order("A-117")));
    expect(await tillkit("handlers", "pause", "books", ...who)).toMatchObject({ code: 0 });
    await shop(async ({ pay }) => {
      for (const n of [2, 3, 4]) await pay(order(`A-${n}`));
      // Paused, so they only wait. Nothing else of this shop would end them.
      expect((await tillkit("handlers", "resume", "books", "--by", "Amina")).code).toBe(0);
      books.isDown = false;
    });
    const told = await outputOf("handlers", "list");
    expect(
      await copied(commandIn(told, "tillkit handlers retry books"), "--by=Amina", "--apply"),
    ).toMatchObject({
      code: 0,
    });
    await shop(async () => {});
    expect(documentOf(await tillkit("handlers", "list", "--json")).handlers).toMatchObject([
      { name: "books", waiting: 0, dead: 0, changes: [{ did: "paused" }, { did: "resumed" }] },
    ]);
  });

  it("7. only the number on the receipt: it names the payment", async () => {
    let number = "";
    await shop(async ({ pay, sandbox }) => {
      const { clientId } = await pay(order("A-117"));
      number = sandbox.find(clientId)!.providerId!;
    });
    expect(await outputOf("payments", "find", number)).toContain("A-117");
    expect(await shown(number)).toMatchObject({ payment: { reference: "A-117", state: "completed" } });
  });

  it("8. a payment of another shop is dismissed, and one of the old shop adopted", async () => {
    await shop(async ({ sandbox }) => {
      for (const clientId of ["shop2-55", "old-77"])
        await sandbox.pay(sandbox.create({ clientId, total: order("").total }).clientId);
    });
    expect(await outputOf("payments", "find", "shop2-55")).toContain("tillkit payments show shop2-55");
    const told = await outputOf("payments", "show", "shop2-55");
    const receiptId = /--receipt-id (\S+)/.exec(told)![1]!;
    expect(await tillkit("resolve", "dismiss", "--receipt-id", receiptId, ...who, "--apply")).toMatchObject({
      code: 0,
    });
    const adopt = [
      "payments",
      "adopt",
      "old-77",
      "--reference",
      "A-9",
      "--amount",
      "1475",
      "--currency",
      "KMF",
    ];
    expect(await outputOf(...adopt, ...who, "--apply")).toContain(
      "The payment is adopted now, and is completed.",
    );
    expect((await shown("A-9")).entries).toContainEqual(
      expect.objectContaining({ action: "adopted", by: "Amina", after: "completed" }),
    );
  });

  it("9. half of it is paid back: recorded once, with what is left", async () => {
    await shop(({ pay }) => pay(order("A-117", "3000")));
    const refund = ["payments", "refund", "A-117", "--amount", "1500", ...who];
    expect(await tillkit(...refund)).toMatchObject({ code: 1 });
    expect(await outputOf(...refund, "--apply")).toContain("refund of 1500 of 3000 KMF, 1500 KMF left");
    expect(await outputOf(...refund, "--apply")).toContain("It was recorded before, by Amina");
    expect((await shown("A-117")).payment).toMatchObject({ refunded: "1500" });
    expect(await outputOf("payments", "export", "A-117")).toContain(",resolution,refunded,,Amina,");
  });

  it("10. yesterday's statement does not add up: each difference comes with its command", async () => {
    await shop(async ({ pay, payments, sandbox }) => {
      for (const [reference, value] of [
        ["A-117", "1475"],
        ["A-118", "3000"],
      ] as const)
        await pay(order(reference, value));
      const { clientId } = await payments.create(order("A-120", "650"));
      sandbox.scenario("webhook-never", { for: clientId });
      await sandbox.pay(clientId);
      const rows = sandbox.payments().map((one) => ({ ...one }));
      // The provider's number alone, the amount and the day alone, a refund, and a row of nobody.
      Object.assign(rows[1]!, { clientId: "", id: "" });
      Object.assign(rows[2]!, { clientId: "", id: "", providerId: "" });
      const refund = { ...rows[0]!, total: { value: "-500", currency: "KMF" } };
      writeStatement([...rows, refund, { ...rows[2]!, total: { value: "4444", currency: "KMF" } }]);
    });
    const compare = async () => documentOf(await tillkit("statement", "statement.csv", "--json"));
    const { findings, rows } = await compare();
    expect(rows).toMatchObject({ read: 6, matched: 3 });
    const kinds = (found: { kind: string }[]) => found.map(({ kind }) => kind).toSorted();
    expect(kinds(findings)).toEqual(["refund_missing_here", "unmatched_row", "unpaid_here"]);
    const codes: number[] = [];
    for (const { next } of findings) if (next) codes.push((await copied(next, "--apply")).code);
    expect(codes).toEqual([0, 0]);
    const after = await compare();
    expect(kinds(after.findings)).toEqual(["unmatched_row"]);
    expect(after.findings[0].problem.message).toMatch(/no payment of \S+ has the row's amount/);
  });
});

interface Row {
  clientId: string;
  id: string;
  providerId?: string;
  total: { value: string; currency: string };
}

function writeStatement(rows: readonly Row[]): void {
  const time = new Date().toISOString();
  const lines = rows.map(({ clientId, id, providerId = "", total }) =>
    [clientId, id, providerId, total.value, total.currency, "completed", time].join(","),
  );
  folder.write(
    "statement.csv",
    ["clientId,id,providerId,amount,currency,status,date", ...lines, ""].join("\n"),
  );
}
