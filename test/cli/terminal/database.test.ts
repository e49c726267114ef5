import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { sqliteStore } from "tillkit/sql";
import { SqlStore } from "../../../src/store/sql/sql-store.js";
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

  it.each([
    ["payments", ["payments", "list"], 0],
    ["attention", ["attention", "list"], 1],
    ["an action that is refused", ["handlers", "pause", "nobody", ...who], 3],
    ["statement", ["statement", "may.csv"], 0],
    ["a statement without columns", ["statement", "may.csv", "--column", "value=no"], 2],
    ["doctor", ["doctor", "--before-start"], 1],
  ])("is closed at the end: %s", async (_, argv, code) => {
    const spy = jest.spyOn(SqlStore.prototype, "close");
    const where = ["--store", "shop.db", "--table-prefix", "pay_"];
    const ran = await runCli([...argv, ...where], { cwd: folder.path });
    expect([ran.code, spy.mock.calls.length]).toEqual([code, 1]);
    spy.mockRestore();
    expect(existsSync(`${folder.path}/shop.db-spool`)).toBe(false);
  });

  it.each(["sqlite:shop.db", "file:shop.db", "sqlite://shop.db", "FILE"])(
    "can be a file: %s",
    async (name) => {
      const store = name === "FILE" ? pathToFileURL(`${folder.path}/shop.db`).href : name;
      const ran = await runCli(["payments", "list", "--store", store, "--table-prefix", "pay_"], {
        cwd: folder.path,
      });
      expect(ran).toMatchObject({ code: 0, stderr: "" });
    },
  );

  it("may have a password in the environment, where the process list does not show it", async () => {
    const env = { TILLKIT_DATABASE: "postgres://shop:s3cret-word@127.0.0.1:1/shop" };
    const { stderr } = await runCli(["payments", "list"], { env });
    expect(stderr).toContain("error store_unavailable");
    expect(stderr).not.toMatch(/secret_on_command_line|s3cret-word/);
  });

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

it("an address that cannot be parsed is named without its password", async () => {
  const env = { TILLKIT_DATABASE: "mysql://pay:hunter2@[db/shop" };
  const { stdout, stderr } = await runCli(["doctor", "--before-start"], { cwd: folder.path, env });
  expect(stdout).toContain("the database mysql://\n");
  expect(stdout + stderr).not.toContain("hunter2");
});
