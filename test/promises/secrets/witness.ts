import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Writable } from "node:stream";
import express from "express";
import { pino } from "pino";
import { hmacSignature, paymentRouter, type Payments, type PaymentsOptions, type SignedField } from "tillkit";
import { sqliteStore, type SqlTx } from "tillkit/sql";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { closeAll, serve, testKit } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { betrayedBy, everythingOf } from "./betrayal.js";
import { secrets as known } from "./known-secrets.js";

/** The scheme of these kits, during a rotation. */
export const scheme = hmacSignature({
  secret: [known["the webhook secret"], known["the previous webhook secret"]],
});
/** A return address of the payment `c-return`. */
export const genuine = makeReturnToken("c-return");
/** A webhook that completes the payment `c-1`. */
export const webhook = signed(completedBody({ clientId: "c-1", id: "s-1" }), scheme);
const secrets = {
  ...known,
  "a signature": webhook.headers["service-signature"],
  "the key of a return": genuine.token.split("~")[1]!,
};

/** Everything that could be read by somebody who must not know a secret, with its place. */
export const shown: [where: string, text: string][] = [];
/** Adds a value that could be read. */
export const show = (where: string, value: unknown) =>
  void shown.push([where, typeof value === "string" ? value : everythingOf(value)]);
/** Returns the places that contain a secret. */
export const betrayals = () =>
  shown.flatMap(([where, text]) => betrayedBy(text, secrets).map((what) => `${where} shows ${what}`));

const logger = pino(
  { level: "trace" },
  new Writable({ write: (line: Buffer, _, done) => (show("the log", line.toString()), done()) }),
);

let folder: string;

/** Listens to the process and the console while the tests of a file run. */
export function watchEverything(): void {
  const printed: jest.SpyInstance[] = [];
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tillkit-secrets-"));
    for (const stream of [process.stdout, process.stderr])
      printed.push(
        jest.spyOn(stream, "write").mockImplementation((chunk: unknown) => {
          show("what the process printed", String(chunk));
          return true;
        }),
      );
    for (const name of ["log", "info", "warn", "error", "debug"] as const)
      printed.push(
        jest.spyOn(console, name).mockImplementation((...said: unknown[]) => show("the console", said)),
      );
  });
  afterAll(() => {
    for (const spy of printed) spy.mockRestore();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => void shown.splice(0));
  afterEach(closeAll);
}

/** Returns every file under a folder as bytes: tables, indexes, free pages, journals and spooled records. */
export function showFiles(): void {
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const file = path.join(folder, name);
    if (statSync(file).isFile()) show(`the file ${name}`, readFileSync(file).toString("latin1"));
  }
}

/** Opens a kit with a SQLite file, and collects its log and notices. */
export function openKit(
  name: string,
  options: Partial<PaymentsOptions<SignedField, SqlTx>> = {},
): Payments<SignedField, SqlTx> {
  const payments = testKit<SignedField, SqlTx>({
    store: sqliteStore(path.join(folder, `${name}.db`)),
    signature: scheme,
    service: { baseUrl: "https://pay.invalid", accessToken: known["the access token"] },
    logger,
    dispatch: { maxFailures: 2, firstDelayMs: 1, maxDelayMs: 2, pollMs: 20 },
    ...options,
  });
  for (const notice of [
    "webhook.rejected",
    "webhook.spooled",
    "webhook.set_aside",
    "dispatch.dead",
    "store.unavailable",
  ] as const)
    payments.on(notice, (told: unknown) => show(`the notice ${notice}`, told));
  return payments;
}

/** Runs a call that must fail, and collects its error. */
export async function showError(where: string, run: () => unknown): Promise<void> {
  let error: unknown;
  try {
    await run();
  } catch (caught) {
    error = caught;
  }
  if (!(error instanceof Error)) throw new Error(`${where} did not fail.`);
  show(where, error);
}

/** Serves a kit, optionally behind a JSON parser that reads the body first. */
export async function open(payments: Payments<SignedField, SqlTx>, eatBody = false): Promise<string> {
  const app = express();
  if (eatBody) app.use(express.json());
  app.use("/payments", paymentRouter(payments));
  return serve(app);
}
