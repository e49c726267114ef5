import { Pool } from "pg";
import { read } from "./documents.js";
import { firstBlock, makeTutorial, resultOf, type Tutorial } from "./tutorial.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];
const page = read("docs/write-a-store.md");
const program = firstBlock(page, "js");
const tables = firstBlock(page, "sql");

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
  let tutorial: Tutorial;
  beforeAll(async () => {
    tutorial = makeTutorial();
    tutorial.write("empty.js", "");
    tutorial.write("my-store.js", program);
    await pool.query(
      `create schema ${schema}; set search_path to ${schema}; ${tables}; set search_path to default`,
    );
  }, 120_000);
  afterAll(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
    tutorial.remove();
  });

  /** Runs the command as the page does. Commits need no sync in a test. */
  function exam(file: string): Promise<{ stdout: string; stderr: string }> {
    const connection = new URL(address);
    connection.searchParams.set("options", `-c search_path=${schema} -c synchronous_commit=off`);
    return tutorial.exam(file, { EXAM_DATABASE_URL: connection.href.replaceAll("+", "%20") });
  }

  it("begins with an empty file, about which the exam says what is missing", async () => {
    const { stderr } = await exam("./empty.js");
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("exports no function create that makes a store.");
  }, 60_000);

  it("passes the whole exam with the program of the page", async () => {
    const { failures, summary } = resultOf((await exam("./my-store.js")).stdout);
    expect(failures).toEqual([]);
    expect(page).toContain(`\`${summary}\``);
  }, 240_000);
}
