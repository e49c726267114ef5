import { execFileSync } from "node:child_process";
import path from "node:path";
import { type Orders } from "../../../examples/stores/orms/orders.js";

/** What the tests use of a generated client. */
export interface PrismaOrders {
  order: {
    create(row: { data: { reference: string } }): Promise<unknown>;
    findMany(): Promise<unknown[]>;
  };
  $transaction(work: (inner: PrismaOrders) => Promise<unknown>): Promise<unknown>;
}

/** Returns the shop's orders through Prisma. */
export function prismaOrders(db: PrismaOrders): Orders {
  return {
    add: (reference) => db.order.create({ data: { reference } }),
    all: () => db.order.findMany(),
    nested: (work) => db.$transaction((inner) => work(prismaOrders(inner))),
  };
}

/** Makes a client of Prisma. Nothing here runs the engine of its migrations, which it would download for every command. */
export function generatePrismaClient(folder: string): void {
  const prisma = path.resolve("examples/stores/node_modules/prisma/build/index.js");
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  execFileSync(process.execPath, [prisma, "generate"], { cwd: folder, env, stdio: "pipe" });
}
