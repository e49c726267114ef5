import path from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "../../package/pack.js";
import { onEachServer, openPlace } from "../../promises/processes/databases.js";

const unpacked = path.resolve(__dirname, "../../../.tmp/package");
const isPacked = process.env.TILLKIT_TEST_TARGET === "packed";

/** Writes a row through Knex in a transaction of a store, and prints the file of the kit. */
const program = `import createKnex from "knex";
import { asPool, mysqlStore, postgresStore } from "tillkit/sql";
const [kind, url, tablePrefix] = process.argv.slice(1);
const [open, client] = { postgres: [postgresStore, "pg"], mysql: [mysqlStore, "mysql2"] }[kind];
const store = open(url, { tablePrefix });
await store.transaction(async (tx) => {
  const knex = createKnex({ client, connectionPool: asPool(tx) });
  await knex.transaction((inner) => inner(tablePrefix + "ledger").insert({ name: "inner" }));
});
await store.close();
console.log(import.meta.resolve("tillkit/sql"));
`;

onEachServer("an ORM with the ES modules of the packed package", (kind) => {
  if (!isPacked) {
    it("leaves the ES modules out, because TILLKIT_TEST_TARGET is not packed", () =>
      expect(isPacked).toBe(false));
    return;
  }

  it("joins an ORM to the transaction in the ES modules of the packed package", async () => {
    const place = await openPlace(kind);
    const { url, prefix } = place.address;
    try {
      // In its own folder the package finds itself by its name.
      const file = run(unpacked, process.execPath, "--input-type=module", "-e", program, kind, url, prefix);
      expect(file.trim()).toBe(pathToFileURL(path.join(unpacked, "dist/esm/store/sql/index.js")).href);
      expect(await place.ledger()).toMatchObject([{ name: "inner" }]);
    } finally {
      await place.remove();
    }
  });
});
