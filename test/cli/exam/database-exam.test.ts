import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { createPool } from "mysql2/promise";
import { payment } from "../../../src/store/exam/checks/fixtures.js";
import { onEachServer, openPlace, type Place, serverUrl } from "../../promises/processes/databases.js";
import { buildKit } from "../../support/built-kit.js";

// An exam makes tables for each of its checks, which takes minutes on a busy machine.
jest.setTimeout(600_000);

// The command ends its process, so it runs in a process of its own.
const built = buildKit("esm");
afterAll(() => rmSync(built, { recursive: true, force: true }));

/** Starts the command. `printed` resolves to the exit code and the output. */
function startExam(argv: readonly string[], env: Record<string, string> = {}) {
  const file = path.join(built, "cli/main.js");
  const child = spawn(process.execPath, [file, "exam", ...argv], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  const printed = Promise.all([ended, text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code, stdout, stderr }),
  );
  return { child, printed };
}

/** Returns the names of the tables of exams. */
async function examTables(place: Place): Promise<string[]> {
  const rows = await place.select<{ name: string }>(
    "select table_name as name from information_schema.tables where table_name like 'tillkit_exam_%'",
  );
  return rows.map(({ name }) => name);
}

const prefixIn = (printed: string): string =>
  /names begin with (tillkit_exam_[0-9a-f]{8}_)/.exec(printed)![1]!;

onEachServer("the exam of a database", (kind) => {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace(kind);
    const created = [payment("c-1")];
    await place.store.transaction((tx) => place.store.save(tx, { created }));
  });
  afterAll(() => place.remove());

  /** Returns all rows of the application's kit. */
  const ownRows = () =>
    Promise.all(["payments", "meta", "ledger"].map((table) => place.select(`select * from @${table}`)));

  it("passes every check, removes its tables, and does not touch the tables of the application", async () => {
    const before = await ownRows();
    const { printed } = startExam(["--json"], { TILLKIT_DATABASE: place.address.url });
    const { code, stdout, stderr } = await printed;
    const { stopped, results } = JSON.parse(stdout) as { stopped: boolean; results: { outcome: string }[] };
    expect(results.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
    expect({ stopped, code }).toEqual({ stopped: false, code: 0 });
    expect(stderr).toMatch(/^cut +2 +· +·$/m);
    const prefix = prefixIn(stderr);
    expect((await examTables(place)).filter((name) => name.startsWith(prefix))).toEqual([]);
    expect(await ownRows()).toEqual(before);
  });

  it("removes its tables after an interruption, and does not touch the tables of the application", async () => {
    const before = await ownRows();
    const { child, printed } = startExam(["--store", place.address.url]);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const prefix = prefixIn(String(line));
    // In a pattern of SQL, an underscore also matches this x.
    const similar = `${prefix.slice(0, -1)}x0`;
    await place.store.transaction((tx) => tx.query(`create table ${similar} (id int)`));
    // A fast check may make and remove its tables between two looks, so each check counts.
    const isOfCheck = (name: string) => name.startsWith(prefix) && /_[1-9]\d*_notes$/.test(name);
    while (child.exitCode === null && !(await examTables(place)).some(isOfCheck)) await delay(5);
    child.kill("SIGINT");
    const { code, stderr } = await printed;
    expect(stderr).toContain("The exam was interrupted.");
    expect(code).toBe(130);
    const left = await examTables(place);
    expect(left.filter((name) => name.startsWith(prefix.slice(0, -1)))).toEqual([similar]);
    await place.store.transaction((tx) => tx.query(`drop table ${similar}`));
    expect(await ownRows()).toEqual(before);
  });
});

const mysqlUrl = serverUrl("mysql");

describe("the exam of a database, by a user with few rights", () => {
  if (mysqlUrl === undefined) {
    it("is left out, because no MySQL server is named", () => expect(mysqlUrl).toBeUndefined());
    return;
  }
  const name = `tillkit_rights_${randomBytes(4).toString("hex")}`;
  const admin = createPool({ uri: mysqlUrl });
  beforeAll(async () => {
    await admin.query(`create database ${name}`);
    await admin.query(`create user ${name}`);
  });
  afterAll(async () => {
    await admin.query(`drop user ${name}`);
    await admin.query(`drop database ${name}`);
    await admin.end();
  });

  it.each([
    ["removes the first tables where the server refuses others", "create, drop", false, []],
    ["makes one table where none can be removed", "create, alter, index", true, ["writes"]],
    ["makes no table where it cannot write", "select", false, []],
  ])("%s", async (_, rights, isLeft, left) => {
    await admin.query(`revoke all privileges, grant option from ${name}`);
    await admin.query(`grant select, insert, update, delete, ${rights} on ${name}.* to ${name}`);
    const url = Object.assign(new URL(mysqlUrl), { username: name, password: "", pathname: `/${name}` });
    const { code, stdout, stderr } = await startExam(["--store", url.href]).printed;
    expect(stderr).toContain("command denied");
    expect(stderr.includes("were not removed")).toBe(isLeft);
    expect(code).toBe(3);
    const [rows] = await admin.query(`show tables from ${name} like '${prefixIn(stdout)}%'`);
    expect((rows as object[]).map((row) => String(Object.values(row)).slice(22))).toEqual(left);
  });
});

describe("tillkit exam without a module", () => {
  it.each([
    [["--store", "postgres://nobody@127.0.0.1:1/none"], 3, "store_unavailable"],
    [["--store", "mysql://nobody@127.0.0.1:1/none"], 3, "store_unavailable"],
    [["--store", "mongodb://127.0.0.1/shop"], 2, "a kind of database that is not known"],
    [["--store", "shop.db"], 2, "create = async () => sqliteStore(file), with the name of a new file"],
    [["store.mjs", "--store", "postgres://127.0.0.1/shop"], 2, "<store.js> or --store, and not both"],
    [[], 2, "needs <store.js>, or --store"],
  ])("says why it cannot examine %j", async (argv, code, said) => {
    const ended = await startExam(argv).printed;
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(said) });
    expect(ended.stderr).not.toContain("were not removed");
  });
});
