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
    tutorial.write("my-store.js", program + firstBlock(page.slice(page.indexOf("## 4. The exam")), "js"));
    await pool.query(
      `create schema ${schema}; set search_path to ${schema}; ${tables}; set search_path to default`,
    );
  }, 120_000);
  afterAll(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
    tutorial.remove();
  });

  /** Returns the address for the page's program. The isolation level is not the one that the program needs. */
  function environment(): Record<string, string> {
    const connection = new URL(address);
    const settings = [
      `search_path=${schema}`,
      "synchronous_commit=off",
      "default_transaction_isolation=serializable",
    ];
    connection.searchParams.set("options", settings.map((one) => `-c ${one}`).join(" "));
    return { EXAM_DATABASE_URL: connection.href.replaceAll("+", "%20") };
  }

  it("begins with an empty file, about which the exam says what is missing", async () => {
    const { stderr } = await tutorial.exam("./empty.js", environment());
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("exports nothing. fix: Export create from the module");
  }, 60_000);

  it("passes the whole exam with the program of the page", async () => {
    const { failures, summary } = resultOf((await tutorial.exam("./my-store.js", environment())).stdout);
    expect(failures).toEqual([]);
    expect(page).toContain(`\`${summary}\``);
  }, 240_000);

  it("does not blame the handler where a connection is lost, and does where a statement is refused", async () => {
    tutorial.write(
      "lost.js",
      `import { create } from "./my-store.js";
      const store = await create();
      const codeOf = (run) => store.transaction(run).catch(({ code }) => code);
      const lost = await codeOf(async (tx) => {
        const { rows } = await tx.query("select pg_backend_pid() as id");
        await store.transaction((other) => other.query("select pg_terminate_backend($1)", [rows[0].id]));
        await tx.query("select 1");
      });
      const refused = await codeOf((tx) => tx.query("select * from missing"));
      await store.close();
      console.log(JSON.stringify({ lost, refused }));`,
    );
    expect(await tutorial.run("lost.js", environment())).toEqual({
      lost: "store_unavailable",
      refused: "42P01",
    });
  });
}
