import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import path from "node:path";

const folder = path.resolve(import.meta.dirname, "../../.tmp");

/**
 * Sets TILLKIT_BENCH_POSTGRES_URL to a server: the one given there or to the tests, or a new one. Its sync is measured,
 * so it must run with fsync on.
 */
export async function usePostgres() {
  const given = process.env.TILLKIT_BENCH_POSTGRES_URL ?? process.env.TILLKIT_TEST_POSTGRES_URL;
  if (given !== undefined && given !== "none") {
    process.env.TILLKIT_BENCH_POSTGRES_URL = given;
    return undefined;
  }
  const { postgres } = await import("../../test/promises/crash/harness/server-postgres.mjs");
  mkdirSync(folder, { recursive: true });
  const own = mkdtempSync(path.join(folder, "bench-postgres-"));
  const server = await postgres(own, await freePort());
  await server.start();
  process.env.TILLKIT_BENCH_POSTGRES_URL = server.url;
  return {
    async stop() {
      await server.kill({ orderly: true });
      rmSync(own, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
