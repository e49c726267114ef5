import { onPostgres } from "./support/on-postgres.js";
import { storeTests } from "./support/store-tests.js";

onPostgres("the tests of a store through Prisma", ["@prisma/client", "@prisma/adapter-pg"], () =>
  storeTests({ name: "a store through Prisma", module: "prisma.cjs", refuses: true }),
);
