import { sqliteStore } from "tillkit/sql";
import { event, ledger, payment } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, saved, settled, withEvents } from "../../../src/store/exam/checks/steps.js";
import { runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const who = ["--by", "Amina", "--reason", "of the test"];

beforeAll(async () => {
  const store = sqliteStore(`${folder.path}/shop.db`, { tablePrefix: "pay_" });
  await saved(store, { created: [payment("c-1", { state: "completed" })] });
  await withEvents(store, [ledger], 1);
  const [claim] = await claimed(store, [ledger]);
  await settled(store, claim!, { state: "dead", error: "no" });
  await saved(store, { events: [event("e-2")] });
  await store.close();
  folder.write("shop.env", "TILLKIT_DATABASE=shop.db\n");
  folder.write("may.csv", "clientId,value,currency,time\nc-1,1475,KMF,2024-05-01T10:00:00Z\n");
});

describe("the database of a command", () => {
  it.each([
    ["resolve", ["resolve", "dismiss", "--client-id", "c-1", ...who], 1, "c-1"],
    ["replay", ["replay"], 0, "0 webhooks"],
    ["payments", ["payments", "list"], 0, "order-of-c-1"],
    ["attention", ["attention", "list"], 1, "dead_dispatch"],
    ["handlers", ["handlers", "list"], 0, "ledger"],
    ["health", ["health"], 1, "dispatches_dead"],
    ["migrate", ["migrate", "--check"], 0, "shop.db (sqlite)"],
    ["backup", ["backup", "copy.db"], 0, "copy.db"],
    ["statement", ["statement", "may.csv"], 0, "Everything agrees."],
  ])(
    "of tillkit %s is that of --env-file, under the names of --table-prefix",
    async (_, argv, code, said) => {
      const run = (...more: string[]) => runCli([...argv, ...more], { cwd: folder.path });
      const there = await run("--env-file", "shop.env", "--table-prefix", "pay_");
      expect({ ...there, stderr: "" }).toMatchObject({
        code,
        stdout: expect.stringContaining(said) as string,
      });
      const elsewhere = await run("--env-file", "shop.env", "--table-prefix", "other_");
      expect(elsewhere.code).toBe(argv[0] === "migrate" ? 1 : 3);
    },
  );

  it("is that of the last --env-file which names one, as it is for Node", async () => {
    folder.write("other.env", "TILLKIT_DATABASE=missing.db\n");
    folder.write("more.env", "TILLKIT_LOG_LEVEL=info\n");
    const list = ["payments", "list", "--table-prefix", "pay_"];
    const files = (...names: string[]) => names.flatMap((name) => ["--env-file", name]);
    const last = await runCli([...list, ...files("other.env", "shop.env", "more.env")], { cwd: folder.path });
    expect(last).toMatchObject({ code: 0, stdout: expect.stringContaining("order-of-c-1") as string });
    const first = await runCli([...list, ...files("shop.env", "other.env")], { cwd: folder.path });
    expect(first.code).toBe(3);
  });
});
