import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { type SignedField } from "tillkit";
import { sqliteStore, type SqliteDatabase, type SqlTx } from "tillkit/sql";
import { closeAll, testKit } from "../support/kit.js";
import { signed, statusBody } from "../support/webhooks.js";
import { temporaryFiles } from "../store/sql/support/temporary-files.js";
import { freePages } from "./free-pages.js";

const nextFile = temporaryFiles();
afterEach(closeAll);

/** Makes the tables in a file, and switches `auto_vacuum` on as docs/operations.md says. */
async function prepared(file: string): Promise<void> {
  const store = sqliteStore(file);
  await store.migrate();
  await store.close();
  const database = new DatabaseSync(file);
  database.exec("pragma auto_vacuum = incremental; vacuum");
  database.close();
}

const pragma = async (store: ReturnType<typeof sqliteStore>, name: string): Promise<unknown> => {
  const { rows } = await store.transaction((tx) => tx.query(`pragma ${name}`));
  return Object.values(rows[0]!)[0];
};

describe("pruning a SQLite file", () => {
  it("gives space back with the program of docs/operations.md, while webhooks are recorded", async () => {
    const file = nextFile();
    await prepared(file);
    const store = sqliteStore(file);
    expect(await pragma(store, "auto_vacuum")).toBe(2);
    const payments = testKit<SignedField, SqlTx<SqliteDatabase>>({
      store,
      dispatch: false,
      spool: false,
      webhook: { recordTimeoutMs: 20_000 },
    });
    const receive = (n: number) => {
      const body = { ...statusBody("failed", { clientId: `c-${n}`, id: `s-${n}` }), type: "unknown" };
      return payments.receiveWebhook(signed({ ...body, padding: "x".repeat(20_000) }));
    };
    for (let n = 0; n < 100; n++) expect((await receive(n)).outcome).toBe("unrecognised");
    const { webhooks } = await payments.prune({ before: new Date(Date.now() + 60_000) });
    expect(webhooks).toBe(100);
    expect(await pragma(store, "freelist_count")).toBeGreaterThan(300);

    const [, received] = await Promise.all([freePages(store), receive(100)]);
    expect(received.outcome).toBe("unrecognised");
    expect(await pragma(store, "freelist_count")).toBe(0);
    await payments.close();
    expect(statSync(file).size).toBeLessThan(1_000_000);
  });

  it("is documented with the program that this test runs", () => {
    const program = readFileSync(path.join(__dirname, "free-pages.ts"), "utf8");
    const page = readFileSync(path.join(__dirname, "../../docs/operations.md"), "utf8");
    expect(page).toContain(program.trim());
  });
});
