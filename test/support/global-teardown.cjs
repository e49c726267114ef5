// Runs after all tests: stops the PostgreSQL that global-setup.cjs started.
const fs = require("node:fs");

module.exports = async () => {
  const { tillkitPostgres: postgres, tillkitPostgresDirectory: directory } = globalThis;
  // stop() would wait forever for a server that has already ended.
  if (postgres?.process?.exitCode === null) await postgres.stop();
  if (directory !== undefined) fs.rmSync(directory, { recursive: true, force: true });
};
