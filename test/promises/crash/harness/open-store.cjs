const path = require("node:path");

/** A store of the compiled kit: `{ kind, url, prefix }`, where a SQLite file is a `url` too. */
module.exports.openStore = function openStore(kit, { kind, url, prefix }) {
  const { sqliteStore, postgresStore, mysqlStore } = require(path.join(kit, "store/sql/index.js"));
  const open = { sqlite: sqliteStore, postgres: postgresStore, mysql: mysqlStore }[kind];
  return open(url, { tablePrefix: prefix });
};
