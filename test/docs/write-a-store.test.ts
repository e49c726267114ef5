import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { Pool } from "pg";
import { buildKit } from "../support/built-kit.js";
import { read } from "./documents.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];
const page = read("docs/write-a-store.md");
const program = /^```js\n(.*?)^```$/ms.exec(page)![1]!;
const tables = /^```sql\n(.*?)^```$/ms.exec(page)![1]!;

it("is a program of less than 60 lines of code", () => {
  expect(program.split("\n").filter((line) => line.trim() !== "").length).toBeLessThan(60);
});

if (url === undefined || url === "none") {
  console.info("The tutorial's store is not examined: TILLKIT_TEST_POSTGRES_URL names no server.");
  it("leaves the exam out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(url);
  });
} else examine(url);

function examine(address: string): void {
  const schema = `tutorial_${process.pid}`;
  const pool = new Pool({ connectionString: address });
  let built: string;
  beforeAll(async () => {
    built = buildKit("esm");
    const exports = { ".": "./index.js" };
    writeFileSync(
      path.join(built, "package.json"),
      JSON.stringify({ name: "tillkit", type: "module", exports }),
    );
    mkdirSync(path.join(built, "tutorial"));
    writeFileSync(path.join(built, "tutorial/empty.js"), "");
    writeFileSync(path.join(built, "tutorial/my-store.js"), program);
    await pool.query(
      `create schema ${schema}; set search_path to ${schema}; ${tables}; set search_path to default`,
    );
  }, 120_000);
  afterAll(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
    rmSync(built, { recursive: true, force: true });
  });

  /** Runs the command as the page does. Commits need no sync in a test. */
  async function exam(file: string): Promise<{ stdout: string; stderr: string }> {
    const connection = new URL(address);
    connection.searchParams.set("options", `-c search_path=${schema} -c synchronous_commit=off`);
    const env = { ...process.env, EXAM_DATABASE_URL: connection.href.replaceAll("+", "%20") };
    const args = [path.join(built, "cli/main.js"), "exam", file];
    return promisify(execFile)(process.execPath, args, { cwd: path.join(built, "tutorial"), env }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
  }

  it("begins with an empty file, about which the exam says what is missing", async () => {
    const { stderr } = await exam("./empty.js");
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("exports no function create that makes a store.");
  }, 60_000);

  it("passes the whole exam with the program of the page", async () => {
    const { stdout } = await exam("./my-store.js");
    expect(stdout.split("\n").filter((line) => /^(failed|Why:)/.test(line))).toEqual([]);
    const summary = /\d+ passed, .*/.exec(stdout)?.[0];
    expect(page).toContain(`\`${summary}\``);
  }, 240_000);
}
