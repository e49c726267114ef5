// After all tests: stops the PostgreSQL that global-setup.cjs started, if it did.
const fs = require("node:fs");

module.exports = async () => {
  const { tillkitPostgres: postgres, tillkitPostgresDirectory: directory } = globalThis;
  // stop() waits for ever for a server that has died on its own.
  if (postgres?.process?.exitCode === null) await postgres.stop();
  if (directory !== undefined) fs.rmSync(directory, { recursive: true, force: true });
};
