// In JavaScript, because the types of the client exist only after `prisma generate`.
const { execFileSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const path = require("node:path");

const examples = path.resolve(__dirname, "../../../examples/stores");
if (!existsSync(path.join(examples, "prisma/generated/client.ts"))) {
  // Prisma downloads its engine of migrations for every command, except where this names a file. Nothing here runs it.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  const program = [path.join(examples, "node_modules/prisma/build/index.js"), "generate"];
  execFileSync(process.execPath, [...program, "--schema", "prisma/schema.prisma"], {
    cwd: examples,
    env,
    stdio: "pipe",
  });
}
const { PrismaPg } = require(require.resolve("@prisma/adapter-pg", { paths: [examples] }));
const { prismaAdapter } = require("../../../examples/stores/prisma.ts");
const { PrismaClient } = require("../../../examples/stores/prisma/generated/client.ts");
const { postgresSchema } = require("./postgres-schema.ts");

/** Makes the store of the Prisma example. */
module.exports.create = ({ prefix }, { storeOver }) => {
  const { schema, connection, prepare, rows, remove } = postgresSchema(prefix);
  const prisma = new PrismaClient({ adapter: new PrismaPg(connection, { schema }) });
  return {
    store: storeOver({ ...prismaAdapter(prisma), close: () => prisma.$disconnect() }),
    write: (tx, { client_id: clientId, event_id: eventId, idempotency_key: idempotencyKey, ...row }) =>
      tx.ledger.create({ data: { ...row, clientId, eventId, idempotencyKey } }),
    prepare,
    rows,
    remove,
  };
};
