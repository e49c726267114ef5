const path = require("node:path");

/**
 * Opens a store: one of the compiled kit, `{ kind, url, prefix, options }`, where the `url` of SQLite is a file; or the one of a
 * module, `{ module, folder, prefix }`. The module's `create(address, tillkit)` returns `{ store, prepare, write, rows, remove }`: `prepare()` makes the
 * tables, `write(tx, row)` adds a row to the ledger, `rows()` returns the ledger, and `remove()` drops the tables.
 */
module.exports.openStore = async function openStore(kit, address) {
  return loadStore(kit, address)(address);
};

/** Loads everything that {@link openStore} needs, and returns a function that opens the store. */
function loadStore(kit, { module: file, kind }) {
  if (file) {
    transformTypeScript(path.join(kit, "index.js"));
    const { create } = require(file);
    return (address) => create(address, require(path.join(kit, "index.js")));
  }
  const { sqliteStore, postgresStore, mysqlStore } = require(path.join(kit, "store/sql/index.js"));
  const open = { sqlite: sqliteStore, postgres: postgresStore, mysql: mysqlStore }[kind];
  const marks = kind === "postgres" ? "$1, $2, $3, $4, $5" : "?, ?, ?, ?, ?";
  return ({ url, prefix, options }) => ({
    store: open(url, { tablePrefix: prefix, ...options }),
    write: (tx, { client_id: clientId, reference, event_id: eventId, idempotency_key: key, attempt }) =>
      tx.query(
        `insert into ${prefix}ledger (client_id, reference, event_id, idempotency_key, attempt) values (${marks})`,
        [clientId, reference, eventId, key, attempt],
      ),
  });
}
module.exports.loadStore = loadStore;

/** Lets `require` load TypeScript, which Node 20 cannot. There "tillkit" is the compiled kit. */
function transformTypeScript(kit) {
  const { transformFileSync } = require("@swc/core");
  const options = {
    jsc: { target: "es2022", parser: { syntax: "typescript" } },
    module: { type: "commonjs" },
    sourceMaps: "inline",
  };
  require.extensions[".ts"] = (loaded, file) => {
    const { code } = transformFileSync(file, options);
    // The sources import "./name.js", as TypeScript wants it.
    const compiled = code.replaceAll(/require\("(\.[^"]+)\.js"\)/g, 'require("$1")');
    loaded._compile(compiled.replaceAll('require("tillkit")', `require(${JSON.stringify(kit)})`), file);
  };
}
