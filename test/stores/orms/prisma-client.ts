import { execFileSync } from "node:child_process";
import path from "node:path";

/** Makes a client of Prisma. Nothing here runs the engine of its migrations, which it would download for every command. */
export function generatePrismaClient(folder: string): void {
  const prisma = path.resolve("examples/stores/node_modules/prisma/build/index.js");
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  execFileSync(process.execPath, [prisma, "generate"], { cwd: folder, env, stdio: "pipe" });
}
