import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { sqliteStore } from "tillkit/sql";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { run } from "../../../src/cli/run.js";
import { at, payment } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/many.db`;
const count = 1001;
const payments = (...argv: string[]) => runCli(["payments", ...argv, "--store", file]);
const idsOf = async (...argv: string[]): Promise<string[]> =>
  documentOf(await payments(...argv, "--json")).payments.map(
    ({ clientId }: { clientId: string }) => clientId,
  );

beforeAll(async () => {
  const store = sqliteStore(file);
  const reported = { at: at(9), by: "webhook", status: "completed", verified: ["status"] };
  // The command reads the payments from the newest to the oldest, in pages of 500.
  const createdAt = "2024-05-01T10:00:00.000Z";
  const oldest = payment("oldest", { createdAt, reported: { ...reported, providerId: "MVK-778" } as never });
  const others = Array.from({ length: count - 1 }, (_, index) =>
    payment(`c-${index}`, { createdAt: new Date(Date.parse(createdAt) + 1 + index).toISOString() }),
  );
  await saved(store, { created: [oldest, ...others] });
  await keepClaim(store, oldest, { number: "mvk 778", at: at(10) });
  await store.close();
});

describe("tillkit payments, of a store with many payments", () => {
  it("names a payment once if its customer gave its number in other letters", async () => {
    expect(await idsOf("find", "mvk778")).toEqual(["oldest"]);
  });

  it("finds all payments of a day", async () => {
    expect(new Set(await idsOf("find", "--day", "2024-05-01")).size).toBe(count);
  });

  it("stops an export if its output cannot be written", async () => {
    const stdout = new PassThrough().resume();
    // As a stream does, and not before the call ends. A read of SQLite waits for nothing.
    stdout.write = () => Boolean(setImmediate(() => stdout.emit("error", new Error("nobody reads"))));
    const stderr = new PassThrough();
    const stdin = Readable.from([]);
    const argv = ["payments", "export", "--json", "--store", file];
    expect(await run(argv, { stdin, stdout, stderr, env: {}, cwd: folder.path })).toBe(0);
    expect(await text(stderr.end())).toBe("1 payment.\n");
  });
});
