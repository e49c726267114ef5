import { generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { fieldsSignature, type SignedField } from "tillkit";
import { sqliteStore, type SqlTx } from "tillkit/sql";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { SqlStore } from "../../../src/store/sql/sql-store.js";
import { closeAll, secret, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const file = `${folder.path}/shop.db`;
const who = ["--by", "Amina", "--reason", "wrong prefix"];
const replay = (...argv: string[]) => runCli(["replay", "--store", file, ...argv], { cwd: folder.path });

/** Uses a kit on the same file, and closes it before the command runs. */
async function withKit<T>(
  use: (payments: ReturnType<typeof testKit<SignedField, SqlTx>>) => Promise<T>,
  options: Partial<Parameters<typeof testKit<SignedField, SqlTx>>[0]> = {},
): Promise<T> {
  const payments = testKit<SignedField, SqlTx>({ store: sqliteStore(file), spool: false, ...options });
  try {
    return await use(payments);
  } finally {
    await closeAll();
  }
}

describe("tillkit replay", () => {
  it("prints webhooks that would be decided differently, and changes them with --apply, once", async () => {
    await withKit(
      async (payments) => {
        await payments.receiveWebhook(signed(completedBody()));
        await payments.store.transaction((tx) => payments.store.save(tx, { created: [pendingPayment()] }));
      },
      { clientIdPrefix: "north-" },
    );
    const would = await replay("--json", "--outcome", "foreign");
    expect(would.code).toBe(1);
    expect(documentOf(would)).toMatchObject({
      dryRun: true,
      looked: 1,
      changed: 1,
      changes: [
        { clientId: "c-1", from: "foreign", to: "applied", state: { from: "pending", to: "completed" } },
      ],
    });
    await withKit(async (payments) => expect(await payments.find("c-1")).toMatchObject({ state: "pending" }));

    const did = await replay("--apply", ...who, "--client-id-prefix=");
    const [{ receivedAt }] = documentOf(would).changes;
    expect(did).toEqual({
      code: 0,
      stdout:
        `${receivedAt}  c-1  foreign → applied, payment pending → completed\n` +
        "1 webhooks read; 1 were decided differently.\n",
      stderr: "",
    });
    await withKit(async (payments) =>
      expect(await payments.find("c-1")).toMatchObject({ state: "completed" }),
    );
    await withKit(async (payments) => {
      const { entries } = await payments.history("c-1");
      expect(entries.map(({ text }) => text)).toContain(
        "replayed by Amina (foreign → applied): wrong prefix",
      );
    });
    expect(documentOf(await replay("--json"))).toMatchObject({ changed: 0 });
    expect((await replay()).code).toBe(0);
  });

  it("records a refused webhook that was kept, if its signature matches now", async () => {
    const about = { clientId: "c-kept", id: "s-kept" };
    await withKit((payments) => {
      const created = [pendingPayment({ clientId: "c-kept", reference: "order-kept", serviceId: "s-kept" })];
      return payments.store.transaction((tx) => payments.store.save(tx, { created }));
    });
    const { rawBody, headers } = signed(completedBody(about));
    const keep = (name: string, signature: string) => {
      const head = `POST /webhook HTTP/1.1\r\nTillkit-Refused: signature_mismatch\r\nservice-signature: ${signature}`;
      return folder.write(name, `${head}\r\n\r\n${rawBody.toString()}`);
    };
    const kept = keep("kept.http", headers["service-signature"]);
    const env = { TILLKIT_WEBHOOK_SECRET: secret };
    const record = (name: string, ...argv: string[]) =>
      runCli(["replay", name, "--store", file, ...argv], { cwd: folder.path, env });

    const forged = await record(keep("forged.http", "0".repeat(64)), "--apply", ...who);
    expect(forged).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("signature_mismatch") as string,
    });
    const would = await record(kept);
    expect(would.code).toBe(1);
    expect(would.stdout).toContain("c-kept  refused → applied, payment pending → completed");
    expect(would.stdout).toContain("Nothing was changed; --apply makes the changes.");
    await withKit(async (payments) =>
      expect(await payments.find("c-kept")).toMatchObject({ state: "pending" }),
    );
    expect((await record(kept, "--apply")).code).toBe(2);
    expect((await record(kept, "--apply", ...who)).code).toBe(0);
    await withKit(async (payments) =>
      expect(await payments.find("c-kept")).toMatchObject({ state: "completed" }),
    );
    const again = await record(kept, "--apply", ...who);
    expect(again).toMatchObject({ code: 0, stdout: "This webhook is recorded already.\n" });
    expect((await record(kept, "--outcome", "foreign")).code).toBe(2);
    expect((await replay("--secret-env", "X")).stderr).toContain("can only be used with a file");
  });

  it("needs the application's confirm before it completes a payment with a kept webhook over fields", async () => {
    const by = fieldsSignature({ secret, merchantId: "m-7" });
    await withKit((payments) => {
      const created = [pendingPayment({ clientId: "c-fields", reference: "order-fields", serviceId: "s-f" })];
      return payments.store.transaction((tx) => payments.store.save(tx, { created }));
    });
    const { rawBody, headers } = signed(completedBody({ clientId: "c-fields", id: "s-f" }), by);
    const head = `service-signature: ${headers["service-signature"]}\n\n`;
    const argv = [
      folder.write("fields.http", head + rawBody.toString()),
      "--merchant-id",
      "m-7",
      "--apply",
      ...who,
    ];
    const env = { TILLKIT_WEBHOOK_SECRET: secret };
    const record = (...more: string[]) =>
      runCli(["replay", "--store", file, ...argv, ...more], { cwd: folder.path, env });
    expect(await record()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--confirm=lookup") as string,
    });
    const waits = await record("--confirm=lookup");
    expect(waits).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("refused → unconfirmed") as string,
    });
    // Only the application has a service, so the lookup is left to the application, and is due now.
    const payment = await withKit((payments) => payments.find("c-fields"));
    expect(payment?.lookups).toBeUndefined();
    expect(Date.parse(payment!.nextLookupAt!)).toBeLessThanOrEqual(Date.now());
  });

  it("refuses to make payments of another shop its own, unless it is told the application's prefix", async () => {
    const clientIdPrefix = "north-";
    await withKit(
      (payments) => payments.receiveWebhook(signed(completedBody({ clientId: "c-other", id: "s-other" }))),
      {
        clientIdPrefix,
      },
    );
    const foreign = ["--outcome", "foreign"];
    const refused = await replay("--apply", ...who, ...foreign);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("1 webhooks are foreign by a policy of the application");
    const dry = await replay(...foreign);
    expect(dry).toMatchObject({ code: 1, stderr: expect.stringContaining("--client-id-prefix") as string });
    const nothing = { code: 0, stdout: expect.stringContaining("0 were decided differently") as string };
    expect(await replay("--apply", ...who, ...foreign, "--client-id-prefix", clientIdPrefix)).toMatchObject(
      nothing,
    );
    const env = { TILLKIT_CLIENT_ID_PREFIX: clientIdPrefix };
    const argv = ["replay", "--store", file, "--apply", ...who, ...foreign];
    expect(await runCli(argv, { env, cwd: folder.path })).toMatchObject(nothing);
    // An application with a prefix in its code may have an empty variable, too.
    const blank = await runCli(argv, { env: { TILLKIT_CLIENT_ID_PREFIX: "" }, cwd: folder.path });
    expect(blank).toMatchObject({ code: 2, stderr: refused.stderr });
  });

  it("refuses to keep a refused webhook without a payment, unless it is told the application's prefix", async () => {
    await withKit((payments) => payments.start({ keepAlive: false }));
    const { rawBody, headers } = signed(completedBody({ clientId: "north-1", id: "s-north" }));
    const head = `service-signature: ${headers["service-signature"]}\n\n`;
    const argv = [folder.write("north.http", head + rawBody.toString()), "--apply", ...who];
    const env = { TILLKIT_WEBHOOK_SECRET: secret };
    const record = (...more: string[]) =>
      runCli(["replay", "--store", file, ...argv, ...more], { cwd: folder.path, env });
    const refused = { code: 2, stderr: expect.stringContaining("may belong to another shop") as string };
    expect(await record()).toMatchObject(refused);
    const foreign = expect.stringContaining("refused → foreign") as string;
    expect(await record("--client-id-prefix", "south-")).toMatchObject({ code: 0, stdout: foreign });
    argv[0] = folder.write("unsigned.http", `X-Other: 1\n\n${rawBody.toString()}`);
    expect(await record()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("error signature_missing") as string,
    });
  });

  it("refuses to complete what waits for a lookup, unless it is told whether the application confirms", async () => {
    const payment = pendingPayment({ clientId: "c-7", serviceId: "s-7", reference: "order-7" });
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    await withKit(
      async (payments) => {
        await payments.store.transaction((tx) => payments.store.save(tx, { created: [payment] }));
        const body = signed(completedBody({ clientId: "c-7", id: "s-7" }), signature);
        expect(await payments.receiveWebhook(body)).toMatchObject({ outcome: "unconfirmed" });
      },
      { signature, confirm: "lookup", lookup: true } as object,
    );
    const selected = ["--client-id", "c-7"];
    const stateNow = () => withKit(async (payments) => (await payments.find("c-7"))?.state);
    const refused = await replay("--apply", ...who, ...selected);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("are unconfirmed by a policy") as string,
    });
    const misspelt = { env: { TILLKIT_CONFIRM: "lokup" }, cwd: folder.path };
    expect(await runCli(["replay", "--store", file, "--apply", ...who, ...selected], misspelt)).toMatchObject(
      {
        code: 2,
        stderr: expect.stringContaining("TILLKIT_CONFIRM must be lookup") as string,
      },
    );
    expect((await replay("--apply", ...who, ...selected, "--confirm", "lookup")).code).toBe(0);
    expect(await stateNow()).toBe("pending");
    // The option has precedence over the variable.
    const argv = ["replay", "--store", file, "--apply", ...who, ...selected, "--confirm", "none"];
    const looksUp = { env: { TILLKIT_CONFIRM: "lookup" }, cwd: folder.path };
    expect((await runCli(argv, looksUp)).code).toBe(0);
    expect(await stateNow()).toBe("completed");
  });

  it("refuses to complete what another cause kept back, where the application may ask the service first", async () => {
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    await withKit(
      async (payments) => {
        await payments.receiveWebhook(signed(completedBody({ clientId: "c-8", id: "s-8" }), signature));
        const created = [pendingPayment({ clientId: "c-8", serviceId: "s-8", reference: "order-8" })];
        await payments.store.transaction((tx) => payments.store.save(tx, { created }));
      },
      { signature, clientIdPrefix: undefined } as object,
    );
    const selected = ["--client-id", "c-8"];
    const stateNow = () => withKit(async (payments) => (await payments.find("c-8"))?.state);
    expect(await replay("--apply", ...who, ...selected)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("its signature covers only fields") as string,
    });
    const { stderr } = await replay(...selected);
    expect(stderr).toMatch(
      /^The webhook [\w-]+ would complete its payment, and its signature covers only fields, /,
    );
    expect(stderr).not.toContain("in the file");
    expect((await replay("--apply", ...who, ...selected, "--confirm", "lookup")).code).toBe(0);
    expect(await stateNow()).toBe("pending");
    expect((await replay("--apply", ...who, ...selected, "--confirm", "none")).code).toBe(0);
    expect(await stateNow()).toBe("completed");
  });

  it("reads only the webhooks that every option selects", async () => {
    const receipts: string[] = [];
    await withKit(async (payments) => {
      for (const id of ["x-1", "x-2"])
        receipts.push((await payments.receiveWebhook(signed(completedBody({ clientId: id, id })))).receiptId);
    });
    const looked = async (...argv: string[]) =>
      documentOf(await replay("--json", "--outcome", "unmatched", ...argv)).looked;
    expect(await looked()).toBe(2);
    expect(await looked("--receipt-id", receipts[1]!)).toBe(1);
    expect(await looked("--client-id", "x-1")).toBe(1);
    expect(await looked("--from", "2099-01-01")).toBe(0);
    expect(await looked("--to", "2020-01-01")).toBe(0);
    expect(await looked("--from", "2020-01-01", "--to", "2099-01-01")).toBe(2);
  });

  it.each([
    [["--apply"], 2, "--by and --reason are missing"],
    [["--from", "yesterday"], 2, "--from must be a UTC day or a time with an offset"],
    [["--from", "1/5/26"], 2, "--from must be a UTC day"],
    [["--to", "2026-11-20T10:00:00"], 2, "--to must be a UTC day"],
    [["--to", "2026-02-30"], 2, "--to must be a UTC day"],
  ])("ends with 2 for %j", async (argv, code, said) => {
    const ran = await replay(...argv);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(said);
  });

  it.each([
    "scheme=hmac",
    "secret=s",
    "secret-file=s.txt",
    "secret-env=X",
    "merchant-id=m-7",
    "fields=id",
    "algorithm=sha512",
    "header=X-Pay",
    "public-key=key.pem",
  ])("refuses --%s without a file", async (option) => {
    const message = `--${option.split("=")[0]} can only be used with a file.`;
    expect(await replay(`--${option}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message) as string,
    });
  });

  it("selects the webhooks of each outcome that the store keeps", async () => {
    const outcomes = [
      "applied",
      "stale",
      "mismatch",
      "unmatched",
      "unconfirmed",
      "foreign",
      "unrecognised",
      "inadmissible",
    ] as const;
    const named = `${folder.path}/outcomes.db`;
    const store = sqliteStore(named);
    // A different number of webhooks for each outcome shows which outcome was selected.
    const webhooks = outcomes.flatMap((outcome, index) =>
      Array.from({ length: index + 1 }, (_, nth) => webhook(`${outcome}-${nth}`, { outcome })),
    );
    await saved(store, { webhooks });
    await store.close();
    const policy = ["--confirm=none", "--client-id-prefix=", "--json", "--store", named];
    const looked = outcomes.map(
      async (outcome) => documentOf(await runCli(["replay", "--outcome", outcome, ...policy])).looked,
    );
    expect(await Promise.all(looked)).toEqual(outcomes.map((_, index) => index + 1));
  });

  it("draws its progress on a terminal, and says which webhooks stay unchanged or name no payment", async () => {
    const named = `${folder.path}/pruned.db`;
    const store = sqliteStore(named);
    const rawBody = Buffer.from('{"topic":"payment.completed"}');
    const pruned = webhook("w-2", { outcome: "unmatched", rawBody: Buffer.alloc(0) });
    const same = webhook("w-3", { outcome: "unmatched", ...signed(completedBody({ clientId: "x-9" })) });
    await saved(store, { webhooks: [webhook("w-1", { outcome: "unmatched", rawBody }), pruned, same] });
    await store.close();
    const policy = ["--confirm=none", "--client-id-prefix="];
    const env = { NO_COLOR: "1" };
    expect(await runCli(["replay", "--store", named, ...policy], { terminal: true, env })).toEqual({
      code: 1,
      stdout:
        "2024-05-01T10:00:01.000Z  no payment  unmatched → inadmissible\n" +
        "  type: expected text of 1 to 128 characters, got nothing\n" +
        "2 webhooks read; 1 would be decided differently. 1 webhooks stay unchanged, because their bodies were pruned.\n" +
        "Nothing was changed; --apply makes the changes.\n",
      stderr: "\r\u001b[K2 webhooks read, 1 with another outcome\r\u001b[K\r\u001b[K",
    });
  });

  it("creates no database", async () => {
    const { code, stderr } = await runCli(["replay", "--store", `${folder.path}/none.db`]);
    expect(code).toBe(3);
    expect(stderr).toContain("none.db.");
  });

  it("decides each webhook once, also where it looks for an unknown policy", async () => {
    const spy = jest.spyOn(SqlStore.prototype, "transaction");
    const countOf = async (...argv: string[]): Promise<number> => {
      spy.mockClear();
      await replay(...argv);
      return spy.mock.calls.length;
    };
    const known = await countOf("--outcome", "applied", "--confirm=none", "--client-id-prefix=");
    expect([known, await countOf("--outcome", "applied")]).toEqual([known, known]);
    spy.mockRestore();
  });

  it("verifies a refused webhook with the public key of a file, as tillkit verify does", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const pem = `${folder.path}/service.pem`;
    writeFileSync(pem, publicKey.export({ type: "spki", format: "pem" }));
    const rawBody = Buffer.from(JSON.stringify(completedBody({ clientId: "c-key", id: "s-key" })));
    const signature = sign(null, rawBody, privateKey).toString("hex");
    const kept = `${folder.path}/key.http`;
    writeFileSync(kept, `POST / HTTP/1.1\r\nService-Signature: ${signature}\r\n\r\n${rawBody.toString()}`);
    const key = ["--scheme", "public-key", "--public-key", pem];
    const verified = await runCli(["verify", kept, "--request", ...key], { cwd: folder.path });
    expect(verified.stdout).toContain(`tillkit replay ${kept} --scheme public-key --public-key ${pem}`);
    const would = await replay(kept, ...key);
    expect([would.code, would.stdout]).toEqual([1, expect.stringContaining("c-key  refused → unmatched")]);
  });

  it("works in production too, where sandbox keys and unsafe stores are refused", async () => {
    const before = process.env["NODE_ENV"];
    process.env["NODE_ENV"] = "production";
    try {
      expect((await replay("--outcome", "applied")).code).toBe(0);
    } finally {
      process.env["NODE_ENV"] = before;
    }
  });

  it("refuses more changes than it can examine, unless it is told whether the application confirms", async () => {
    const many = `${folder.path}/many.db`;
    const store = sqliteStore(many);
    const numbers = Array.from({ length: 1001 }, (_, index) => `c-${index}`);
    await store.transaction(async (tx) => {
      await store.save(tx, {
        created: numbers.map((id) =>
          pendingPayment({ clientId: id, serviceId: `s-${id}`, reference: `o-${id}` }),
        ),
        webhooks: numbers.map((id, index) => ({
          receiptId: `r-${id}`,
          eventKey: `key-${id}`,
          outcome: "mismatch",
          rawBody: signed(completedBody({ clientId: id, id: `s-${id}` })).rawBody,
          covers: index === 1000 ? ["id", "clientId", "status", "total.value", "total.currency"] : "body",
          receivedAt: new Date(Date.UTC(2026, 10, 20, 10, 0, index)).toISOString(),
          clientId: id,
        })),
      });
    });
    await store.close();
    const run = (...argv: string[]) => runCli(["replay", "--store", many, "--apply", ...who, ...argv]);
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("1001 webhooks would be decided differently, and only 1000") as string,
    });
    expect(await run("--confirm", "none")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\n… and 1 more.\n1001 webhooks read; ") as string,
    });
  });
});
