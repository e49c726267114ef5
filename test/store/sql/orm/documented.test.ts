import { readFileSync } from "node:fs";
import path from "node:path";
import { codeBlocks, read } from "../../../docs/documents.js";

it.each(["adapters-knex.ts", "adapters-drizzle-postgres.ts", "adapters-drizzle-mysql.ts"])(
  "documents %s as it is tested",
  (file) => {
    expect(codeBlocks(read("docs/transactions.md"))).toContain(
      readFileSync(path.join(__dirname, file), "utf8"),
    );
  },
);
