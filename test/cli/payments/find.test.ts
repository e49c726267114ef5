import { sqliteStore } from "tillkit/sql";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { at, payment, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const payments = async (...argv: string[]) =>
  (await runCli(["payments", ...argv, "--store", "shop.db"], { cwd: folder.path })).stdout;
const idsIn = (text: string) => [...new Set(text.match(/\bp-\d\b/g))].toSorted();

beforeAll(async () => {
  const store = sqliteStore(`${folder.path}/shop.db`);
  const by = (providerId: string) =>
    ({ at: at(9), by: "webhook", status: "completed", verified: [], providerId }) as never;
  const created = [
    payment("p-1", { reported: by("HOL-0075F4C9"), state: "completed", createdAt: at(1) }),
    payment("p-2", { reported: by("HOL-0075F4C9"), createdAt: at(2) }),
    payment("p-3", { reported: by("hol-00AB12"), createdAt: at(3) }),
    payment("p-4", { reported: by("hol 0075f4c9"), createdAt: at(4) }),
    payment("p-5", { reference: "o-5", overdueAt: at(5), createdAt: at(5) }),
    payment("p-6", {
      reference: "o-5",
      state: "completed",
      open: false,
      attention: "paid_late",
      createdAt: at(6),
    }),
  ];
  const about = (text: string) => Buffer.from(JSON.stringify({ providerId: text }));
  await saved(store, {
    created,
    webhooks: [
      webhook("w-1", { outcome: "foreign", clientId: "m-1", rawBody: about("F-1"), receivedAt: at(1) }),
      webhook("w-2", { outcome: "foreign", clientId: "m-2", rawBody: about("F-1"), receivedAt: at(2) }),
      webhook("w-3", { outcome: "unmatched", clientId: "m-3", rawBody: about("U-1") }),
    ],
  });
  for (const one of created.slice(0, 2)) await keepClaim(store, one, { number: "777 1", at: at(10) });
  await store.close();
});

describe("tillkit payments find", () => {
  it("prints all payments with the exact number, and the command for the first one", async () => {
    expect((await payments("find", "HOL-0075F4C9")).split("\n")).toEqual([
      "created (UTC)     state      amount    order         clientId  provider",
      "2024-05-01 10:02  pending    1475 KMF  order-of-p-2  p-2       HOL-0075F4C9",
      "2024-05-01 10:01  completed  1475 KMF  order-of-p-1  p-1       HOL-0075F4C9",
      "",
      "History of the first payment: tillkit payments show p-2 --store shop.db",
      "",
    ]);
  });

  it.each([
    ["777 1", ["p-1", "p-2"]],
    ["00AB12", ["p-3"]],
    ["0075F4C9", ["p-1", "p-2", "p-4"]],
  ])("finds the payments of the number %s", async (text, ids) => {
    const stdout = await payments("find", text);
    expect(idsIn(stdout)).toEqual(ids);
    expect(stdout).toContain(
      `\nHistory of ${ids.length > 1 ? "the first" : "this"} payment: tillkit payments show p-`,
    );
  });

  it("names the newest webhook of another shop, and no webhook of this shop", async () => {
    expect(await payments("find", "F-1")).toContain(" has F-1: tillkit payments show m-2 --store shop.db\n");
    expect(await payments("find", "U-1")).toMatch(
      /^No payment was found\.\nYou can also search by the order number /,
    );
  });
});

describe("tillkit payments show", () => {
  it("prints the open entries of each payment that a text names", async () => {
    const stdout = await payments("show", "o-5");
    for (const id of ["p-5", "p-6"]) expect(stdout).toMatch(new RegExp(`\\n${id}: \\S.*\\n`));
    const statement = "  To look in a statement:\n    tillkit statement <file> --store shop.db\n";
    expect(stdout).toContain(statement);
  });
});
