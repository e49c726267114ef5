// Runs the crash harness over the build that is measured.
import { execFile } from "node:child_process";
import path from "node:path";
import { mysqlDatabase, postgresDatabase } from "./database.mjs";

const servers = {
  postgres: { open: () => postgresDatabase(), variable: "TILLKIT_TEST_POSTGRES_URL" },
  mysql: { open: () => mysqlDatabase(), variable: "TILLKIT_TEST_MYSQL_URL" },
};
const program = path.resolve(import.meta.dirname, "../../scripts/crash.mjs");

/**
 * Kills shops while they work, `cycles` times on each store, and compares what was answered 200 with what is on record and
 * what the handlers did. Throws if anything was lost, unexpected or done twice.
 */
export async function proveOverCrashes({ kit, stores, cycles, tick }) {
  const proofs = [];
  for (const store of stores) {
    const args = ["--store", store, "--mode", "kill", "--cycles", String(cycles), "--kit", kit];
    // For SQLite, the crash harness makes its own file.
    const server = servers[store];
    const database = await server?.open();
    const { code, stdout, stderr } = await node([program, ...args, "--seed", "7", "--json", "--quiet"], {
      ...(server && { [server.variable]: database.url }),
    }).finally(() => database?.drop());
    if (code !== 0) {
      const meaning = code === 2 ? "no crash hit anything" : `ended with ${code}`;
      throw new Error(`The crash harness over this build on ${store}: ${meaning}.\n${stdout}${stderr}`);
    }
    const { kills, acknowledged, lost, unexpected, duplicated, recovered, effects } = JSON.parse(stdout);
    proofs.push({ store, kills, acknowledged, lost, unexpected, duplicated, recovered, effects });
    tick(store);
  }
  return proofs;
}

function node(args, env) {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, timeout: 120_000 };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    );
  });
}
