import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { plainEnvironment } from "./pack.js";

/** A whole shop, with the service's credentials in variables. It must run without changes. */
export const program = `import express from "express";
import { createPayments, hmacSignature, paymentRouter } from "tillkit";
import { sqliteStore } from "tillkit/sql";

const payments = createPayments({
  publicUrl: "https://shop.example/payments",              // where the router below is reached from outside
  service: { baseUrl: "https://api.pay.example", accessToken: process.env.PAY_TOKEN },
  signature: hmacSignature({ secret: process.env.PAY_WEBHOOK_SECRET }),
  store: sqliteStore("shop.db"),
});

payments.onPaymentCompleted(async ({ payment }, { tx }) => {
  await tx.query("update orders set paid = 1 where id = ?", [payment.reference]);
});                                                         // commits with the dispatch's own "done" mark, or not at all

const app = express();
app.use("/payments", paymentRouter(payments));
app.post("/checkout/:order", async (req, res) => {
  const { checkoutUrl } = await payments.create({
    reference: req.params.order, total: { value: "1475", currency: "KMF" },
  });
  res.redirect(303, checkoutUrl);
});
app.listen(3000);
`;

/** The port that is written in the program. */
export const port = 3000;
export const shopUrl = `http://127.0.0.1:${port}`;

/** Strict options that also check the types of every package. */
export const compilerOptions = {
  strict: true,
  skipLibCheck: false,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: "es2022",
  lib: ["es2023"],
  module: "nodenext",
  types: ["node"],
};

/** Redirects calls of the service's address to the sandbox, because the address is written in the program. */
const redirect = `const { fetch } = globalThis;
globalThis.fetch = (address, options) =>
  fetch(String(address).replace(/^https:\\/\\/api\\.pay\\.example(?=\\/)/, process.env.SANDBOX_URL), options);
`;

/** The compiled program, running in a folder. */
export class RunningProgram {
  readonly #child: ChildProcess;
  readonly #lock: Server;
  #output = "";

  private constructor(child: ChildProcess, lock: Server) {
    this.#child = child;
    this.#lock = lock;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.#output += text));
    }
  }

  static async start(folder: string, environment: Record<string, string>): Promise<RunningProgram> {
    const lock = await lockPort();
    await refuseTakenPort();
    const preload = join(folder, "redirect.mjs");
    writeFileSync(preload, redirect);
    const child = spawn(process.execPath, ["--import", pathToFileURL(preload).href, "shop.js"], {
      cwd: folder,
      env: { ...plainEnvironment(), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const running = new RunningProgram(child, lock);
    await running.until("answers", async () => (await fetch(shopUrl)).status < 500);
    return running;
  }

  get output(): string {
    return this.#output;
  }

  /** Waits for an effect of another process. The error of a timeout contains the output of the program. */
  async until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    const end = performance.now() + 50_000;
    while (!(await Promise.resolve(holds()).catch(() => false))) {
      if (this.#child.exitCode !== null || performance.now() > end) {
        throw new Error(`The program never ${what}. It printed:\n${this.#output}`);
      }
      await new Promise((resolve) => void setTimeout(resolve, 25));
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill("SIGTERM");
      await ended;
    }
    // Only now is the port free for the program of another test.
    this.#lock.close();
  }
}

/** Waits until no other test runs a program on the port: each of them listens on the next port meanwhile. */
export async function lockPort(): Promise<Server> {
  for (;;) {
    const server = createServer();
    server.listen(port + 1, "127.0.0.1");
    try {
      await once(server, "listening");
      return server.unref();
    } catch {
      await new Promise((resolve) => void setTimeout(resolve, 100));
    }
  }
}

export async function refuseTakenPort(): Promise<void> {
  const server = createServer();
  server.listen(port);
  await once(server, "listening").catch((cause: unknown) => {
    throw new Error(
      `Port ${port} is in use, and the program of the test listens on it. Stop what listens there first.`,
      { cause },
    );
  });
  server.close();
  await once(server, "close");
}
