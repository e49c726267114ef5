const path = require("node:path");

/** Opens a store of the compiled kit: `{ kind, url, prefix }`. For SQLite the `url` is a file. */
module.exports.openStore = function openStore(kit, { kind, url, prefix }) {
  const { sqliteStore, postgresStore, mysqlStore } = require(path.join(kit, "store/sql/index.js"));
  const open = { sqlite: sqliteStore, postgres: postgresStore, mysql: mysqlStore }[kind];
  return open(url, { tablePrefix: prefix });
};
