import { onPostgres } from "./support/on-postgres.js";
import { storeTests } from "./support/store-tests.js";

onPostgres("the tests of a store through Drizzle", ["drizzle-orm"], () =>
  storeTests({ name: "a store through Drizzle", module: "drizzle.cjs", refuses: true }),
);
