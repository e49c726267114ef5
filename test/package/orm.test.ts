import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { read } from "../docs/documents.js";
import { onEachServer, openPlace, serverUrl } from "../promises/processes/databases.js";
import { discard, install, pack, run, type Packed } from "./pack.js";

/** Writes two rows through Kysely in one transaction of a store, and a third that is rolled back to its savepoint. */
const program = `import { Kysely, PostgresDialect } from "kysely";
import { asPool, postgresStore } from "tillkit/sql";
const [url, prefix] = process.argv.slice(2);
const store = postgresStore(url, { tablePrefix: prefix });
await store.transaction(async (tx) => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: asPool(tx) }) });
  const add = (on, name) => on.insertInto(prefix + "ledger").values({ name }).execute();
  await add(db, "outer");
  await db.transaction().execute((inner) => add(inner, "inner"));
  await db.transaction().execute((inner) => add(inner, "lost").then(() => Promise.reject(new Error()))).catch(() => {});
});
await store.close();
`;

onEachServer("the packed package with an ORM", (kind) => {
  if (kind !== "postgres") return;
  let packed: Packed;
  beforeAll(() => {
    packed = pack();
  }, 60_000);
  afterAll(() => discard(packed));

  it.each([
    ["ESM", (source: string) => source],
    [
      "CommonJS",
      (source: string) =>
        `${source.replaceAll(/import (.*) from (.*);/g, "const $1 = require($2);").replace("await store.t", "void (async () => {\nawait store.t")}})();`,
    ],
  ])(
    "joins the ORM to the transaction as %s",
    async (format, convert) => {
      const place = await openPlace("postgres");
      const { kysely } = (
        JSON.parse(read("examples/stores/package.json")) as { dependencies: { kysely: string } }
      ).dependencies;
      const project = install(packed, format, `kysely@${kysely}`, "pg@8");
      const file = format === "ESM" ? "orm.mjs" : "orm.cjs";
      writeFileSync(join(project, file), convert(program));
      try {
        run(project, process.execPath, file, serverUrl("postgres")!, place.address.prefix);
        expect((await place.ledger()).map(({ name }) => name).toSorted()).toEqual(["inner", "outer"]);
      } finally {
        await place.remove();
      }
    },
    120_000,
  );
});
