import { randomBytes } from "node:crypto";
import path from "node:path";
import { CannotRun } from "./options.mjs";
import { smallDisk } from "./small-disk.mjs";
import { startServer } from "./server.mjs";

const servers = {
  postgres: { variable: "TILLKIT_TEST_POSTGRES_URL", url: "postgres://postgres@127.0.0.1:5432/test" },
  mysql: { variable: "TILLKIT_TEST_MYSQL_URL", url: "mysql://root@127.0.0.1:3306/test" },
};

/** Returns the database of a run, with a table prefix that no other run has. */
export async function addressFor({ kind, module, mode, folder, disk }) {
  const prefix = `crash_${randomBytes(4).toString("hex")}_`;
  if (module) return { address: { module, folder, prefix }, remove: () => {} };
  if (mode === "database") {
    const server = await startServer(kind, folder);
    return { address: { kind, url: server.url, prefix }, server, remove: () => server.kill() };
  }
  if (mode === "disk") {
    const small = smallDisk(folder, disk);
    const url = path.join(small.folder, "shop.db");
    return { address: { kind, url, prefix }, disk: small, remove: small.remove };
  }
  if (kind === "sqlite") {
    return { address: { kind, url: path.join(folder, "shop.db"), prefix }, remove: () => {} };
  }
  const { variable, url } = servers[kind];
  if (process.env[variable] === "none") throw new CannotRun(`${variable} is "none".`);
  return { address: { kind, url: process.env[variable] || url, prefix }, remove: () => {} };
}
