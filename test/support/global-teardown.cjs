// Runs after all tests: stops the PostgreSQL that global-setup.cjs started, and removes its folders.
const fs = require("node:fs");

module.exports = async () => {
  const { tillkitPostgres: postgres, tillkitPostgresDirectory: directory, tillkitBuilt: built } = globalThis;
  fs.rmSync(built, { recursive: true, force: true });
  // stop() would wait forever for a server that has already ended.
  if (postgres?.process?.exitCode === null) await postgres.stop();
  if (directory !== undefined) fs.rmSync(directory, { recursive: true, force: true });
};
