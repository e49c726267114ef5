import { Pool } from "pg";
import { binaryList } from "../../../../../src/store/sql/postgres/pipeline/binary-lists.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

it("makes no list of numbers, of strings and bytes, or of nothing", () => {
  expect(binaryList([1, 2])).toBeUndefined();
  expect(binaryList(["a", Buffer.from("b")])).toBeUndefined();
  expect(binaryList([null, undefined])).toBeUndefined();
  expect(binaryList([])).toBeUndefined();
});

if (url === undefined || url === "none") {
  it("leaves PostgreSQL's reading of lists out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  const pool = new Pool({ connectionString: url, max: 1 });
  afterAll(() => pool.end());

  it.each([
    [
      "text",
      ["", "plain", null, `"quoted", {braced} and \\ back`, "NULL", "Ünïcödé 🙂 漢字", "x".repeat(100_000)],
    ],
    ["bytea", [Buffer.alloc(0), null, Buffer.from([0, 1, 92, 34, 255]), Buffer.alloc(200_000, 7)]],
  ])("is read by PostgreSQL as the same list of %s", async (type, values) => {
    const { rows } = await pool.query<{ list: unknown }>(`select $1::${type}[] as list`, [
      binaryList(values),
    ]);
    expect(rows[0]!.list).toEqual(values);
  });

  it.each([
    ["text", ["", null, `"quoted", {braced} and \\ back`, "NULL", "Ünïcödé 🙂 漢字"]],
    ["bytea", [Buffer.alloc(0), null, Buffer.from([0, 1, 92, 34, 255])]],
  ])("is the same list of %s to PostgreSQL as the driver's own text format", async (type, values) => {
    const { rows } = await pool.query<{ same: boolean }>(`select $1::${type}[] = $2::${type}[] as same`, [
      binaryList(values),
      values,
    ]);
    expect(rows).toEqual([{ same: true }]);
  });

  it("writes half of a surrogate pair as the replacement character", async () => {
    const list = binaryList(["a\uD83D", "b"]);
    const { rows } = await pool.query<{ list: unknown }>("select $1::text[] as list", [list]);
    expect(rows[0]!.list).toEqual(["a\uFFFD", "b"]);
  });
}
