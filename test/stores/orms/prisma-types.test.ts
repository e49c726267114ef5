import { randomBytes } from "node:crypto";
import path from "node:path";
import { mysqlStore, type SqlTx } from "tillkit/sql";
import { serverUrl } from "../../promises/processes/databases.js";
import { packageOf, withPackages } from "../support/package-of.js";
import { databaseFor } from "./own-database.js";
import { generatePrismaClient } from "./prisma-client.js";

interface Client {
  $queryRawUnsafe(sql: string): Promise<Record<string, unknown>[]>;
  $disconnect(): Promise<void>;
}
type Class<T> = new (options: unknown) => T;

const folder = path.resolve("examples/stores/orms/mysql");
const server = serverUrl("mysql");

const columns = {
  at: ["datetime(3)", "'2026-11-26 01:02:03.456'"],
  day: ["date", "'2026-11-26'"],
  time: ["time", "'01:02:03'"],
  amount: ["decimal(20,4)", "1234567890123.4500"],
  large: ["bigint", "9007199254740993"],
  whole: ["int", "7"],
  positive: ["int unsigned", "4294967295"],
  yes: ["tinyint(1)", "1"],
  real_number: ["double", "1.5"],
  document: ["json", `'{"a":[1,"x"]}'`],
  bytes: ["longblob", "x'00ff275c'"],
  note: ["text", "'l''été ✓'"],
  nothing: ["varchar(10)", "null"],
} as const;

if (server === undefined)
  it("leaves the types of Prisma out, because TILLKIT_TEST_MYSQL_URL names no server", () =>
    expect(server).toBeUndefined());
else
  withPackages("the types of Prisma", ["@prisma/client", "@prisma/adapter-mariadb"], () => {
    it("Prisma reads every type in the transaction as through a connection of its own", async () => {
      generatePrismaClient(path.join(folder, "prisma"));
      const { PrismaMariaDb } = packageOf<{ PrismaMariaDb: Class<object> }>("@prisma/adapter-mariadb");
      const { PrismaClient } = jest.requireActual<{ PrismaClient: Class<Client> }>(
        `${folder}/prisma/generated/client.ts`,
      );
      const { clientIn } = jest.requireActual<{ clientIn(this: void, tx: SqlTx): Client }>(
        `${folder}/prisma.ts`,
      );
      const database = databaseFor("mysql", server);
      await database.create();
      const store = mysqlStore(database.url, { tablePrefix: `t${randomBytes(3).toString("hex")}_` });
      const own = new PrismaClient({ adapter: new PrismaMariaDb(database.url) });
      try {
        const definitions = Object.entries(columns).map(([name, [type]]) => `${name} ${type}`);
        const values = Object.values(columns).map(([, value]) => value);
        await own.$queryRawUnsafe(`create table things (${definitions.join()})`);
        await own.$queryRawUnsafe(`insert into things values (${values.join()})`);
        const read = "select t.*, count(*) over () as n, sum(amount) over () as total from things t";
        const expected = await own.$queryRawUnsafe(read);
        const actual = await store.transaction((tx) => clientIn(tx).$queryRawUnsafe(read));
        expect(actual).toEqual(expected);
        expect(actual).toMatchObject([
          { large: 9007199254740993n, document: { a: [1, "x"] }, nothing: null },
        ]);
      } finally {
        await own.$disconnect();
        await store.close();
        await database.drop();
      }
    });
  });
