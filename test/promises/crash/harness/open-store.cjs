const path = require("node:path");

/** Opens a store of the compiled kit: `{ kind, url, prefix, options }`. For SQLite the `url` is a file. */
module.exports.openStore = function openStore(kit, { kind, url, prefix, options }) {
  const { sqliteStore, postgresStore, mysqlStore } = require(path.join(kit, "store/sql/index.js"));
  const open = { sqlite: sqliteStore, postgres: postgresStore, mysql: mysqlStore }[kind];
  return open(url, { tablePrefix: prefix, ...options });
};
