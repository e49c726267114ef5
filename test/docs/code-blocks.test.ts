import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { codeBlocks, documents, root } from "./documents.js";

/** The names that the documents use without defining them. */
const globals = `
import { type Express, type Response } from "express";
import { type Payment, type Payments, type PaymentsOptions, type PaymentStore, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";

declare global {
  const createPayments: typeof import("tillkit").createPayments;
  const paymentRouter: typeof import("tillkit").paymentRouter;
  const captureRawBody: typeof import("tillkit").captureRawBody;
  const hmacSignature: typeof import("tillkit").hmacSignature;
  const fieldsSignature: typeof import("tillkit").fieldsSignature;
  const publicKeySignature: typeof import("tillkit").publicKeySignature;
  const standardWebhooksSignature: typeof import("tillkit").standardWebhooksSignature;
  const clientCredentials: typeof import("tillkit").clientCredentials;
  const MemoryStore: typeof import("tillkit").MemoryStore;
  const storeOver: typeof import("tillkit").storeOver;
  const sqliteStore: typeof import("tillkit/sql").sqliteStore;
  const postgresStore: typeof import("tillkit/sql").postgresStore;
  const createSandbox: typeof import("tillkit/sandbox").createSandbox;
  const sandbox: import("tillkit/sandbox").Sandbox;
  const testStore: typeof import("tillkit/testing").testStore;

  const app: Express;
  const res: Response;
  const options: PaymentsOptions<SignedField, SqlTx>;
  const payments: Payments<SignedField, SqlTx>;
  const reference: string;
  const clientId: string;
  const receiptId: string;
  const total: { value: string; currency: string };
  const secret: string;

  const merchants: { name: string; token: string; secret: string }[];
  /** A queue of pg-boss, as far as a page uses it. */
  const boss: {
    send(
      name: string,
      data: object,
      options: { db: { executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> } },
    ): Promise<string | null>;
  };
  /** A queue of BullMQ, as far as a page uses it. */
  const queue: { add(name: string, data: object, options: { jobId: string }): Promise<unknown> };
  const read: import("tillkit").BatchAdapter<unknown>["read"];
  const scan: import("tillkit").BatchAdapter<unknown>["scan"];
  const write: import("tillkit").BatchAdapter<unknown>["write"];
  const fulfilOrder: import("tillkit").Handler<"payment.completed">;
  function sendReceipt(payment: Payment, options: { idempotencyKey: string; signal: AbortSignal }): Promise<string>;
  function askForRefund(payment: Payment, firstClientId: string): Promise<void>;
  function wakeSomebodyUp(eventId: string, handler: string): void;
  function audit(event: { id: string; type: string }): Promise<void>;
  function fulfil(event: { payment: Payment }, context: { tx: SqlTx }): Promise<void>;
  function emptyDatabase(): Promise<object>;
  function myStore(database: object): PaymentStore<SqlTx>;
  function anotherOver(store: PaymentStore<SqlTx>): PaymentStore<SqlTx>;
  function dropDatabaseOf(store: PaymentStore<SqlTx>): Promise<void>;
}
`;

/** A handler in its own file, which pages show in more than one way. */
const handler = `import { type Handler } from "tillkit";
export declare const fulfilOrder: Handler<"payment.completed">;
`;

const config = { extends: "../../tsconfig.json", include: ["."] };
let folder: string;

beforeAll(() => {
  mkdirSync(path.join(root, ".tmp"), { recursive: true });
  folder = mkdtempSync(path.join(root, ".tmp/docs-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns a block as a module: its imports stay at the top, and the rest becomes an async function. */
function moduleOf(block: string): string {
  if (/^export /m.test(block)) return block;
  const imports = /^import [^;]*;$/gm;
  const rest = block.replaceAll(imports, "");
  return `${(block.match(imports) ?? []).join("\n")}\nexport async function block() {\n${rest}\n}\n`;
}

describe("the code in the documents", () => {
  it("type-checks, block by block", () => {
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(path.join(folder, "globals.d.ts"), globals);
    writeFileSync(path.join(folder, "fulfil-order.ts"), handler);
    let count = 0;
    for (const { file, text } of documents) {
      for (const [index, block] of codeBlocks(text).entries()) {
        const page = path.join(folder, file.replaceAll("/", "-"));
        // A block may begin with the name of its file: the other blocks of its page can import it.
        const [, name] = /^\/\/ ([\w/.-]+)\.ts\n/.exec(block) ?? [];
        const target = name === undefined ? `${page}-${index}.ts` : path.join(page, `${name}.ts`);
        mkdirSync(path.dirname(target), { recursive: true });
        writeFileSync(target, moduleOf(block));
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(10);

    const { stdout } = spawnSync(process.execPath, ["scripts/tsc.mjs", "-p", folder, "--pretty", "false"], {
      cwd: root,
      encoding: "utf8",
    });
    // Only errors in the blocks: the sources have a check of their own.
    const errors = stdout.split("\n").filter((line) => line.includes(path.basename(folder)));
    expect(errors).toEqual([]);
  }, 60_000);
});
