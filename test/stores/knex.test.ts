import { onPostgres } from "./support/on-postgres.js";
import { storeTests } from "./support/store-tests.js";

onPostgres("the tests of a store through Knex", ["knex"], () =>
  storeTests({ name: "a store through Knex", module: "knex.ts", refuses: true }),
);
