import { SqliteConnection } from "../../../../src/store/sql/sqlite/connection.js";
import { type SqliteDatabase } from "../../../../src/store/sql/sqlite/database.js";

it("a connection prepares a statement once, and keeps only the newest 256 statements", () => {
  const prepared: string[] = [];
  const statement = { all: () => [], run: () => ({ changes: 0 }), columns: () => [] };
  const database: SqliteDatabase = {
    exec: () => undefined,
    close: () => undefined,
    prepare: (sql) => (prepared.push(sql), statement),
  };
  const connection = new SqliteConnection(database);
  const run = (...numbers: number[]): string[] => {
    prepared.length = 0;
    for (const number of numbers) connection.run(`select ${number}`, []);
    return prepared;
  };
  const first = Array.from({ length: 256 }, (_, number) => number);
  expect(run(...first)).toHaveLength(256);
  expect(run(...first)).toEqual([]);
  expect(run(256, 256, 1)).toEqual(["select 256"]);
  expect(run(0)).toEqual(["select 0"]);
});
