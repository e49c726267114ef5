import { createHmac, generateKeyPairSync, sign as signWith } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import post from "supertest";
import { fieldsSignature, hmacSignature } from "tillkit";
import { type DiagnosisCode, hypotheses } from "../../../src/cli/verify/hypotheses.js";
import { appOf, closeAll, secret, testKit } from "../../support/kit.js";
import { completedBody } from "../../support/webhooks.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

interface Document {
  verified: boolean;
  findings: { code: string; severity: string; message: string; fix: string }[];
  expected?: string;
}

const folder = temporaryFolder();
const payload = completedBody({ note: "café / 100%" });
const compact = JSON.stringify(payload);
const hmac = (body: string | Buffer, key: string | Buffer = secret, algorithm = "sha256") =>
  createHmac(algorithm, key).update(body);
const hex = (...args: Parameters<typeof hmac>) => hmac(...args).digest("hex");

/** Runs `verify` on a body in a folder of its own, without other files. */
async function verify(body: string | Buffer, signature: string, ...more: string[]) {
  const alone = path.join(folder.path, `${(count += 1)}`);
  mkdirSync(alone);
  const file = folder.write(`${count}/body.json`, body);
  const secrets = more.some((one) => one.startsWith("--secret")) ? [] : ["--secret", secret];
  const ran = await runCli(["verify", file, `--signature=${signature}`, ...secrets, ...more, "--json"], {
    env: environment,
  });
  const document: Document = documentOf(ran);
  return { ...ran, ...document, codes: document.findings.map(({ code }) => code) };
}
let count = 0;
const environment = { PAY_SECRET_OF_STAGING: "whsec_0000111122223333444455556666777788" };

describe("tillkit verify", () => {
  it("accepts the signatures that the kit accepts", async () => {
    const { code, verified, findings } = await verify(compact, hex(compact));
    expect([code, verified, findings]).toEqual([0, true, []]);
    const fields = fieldsSignature({ secret, merchantId: "m-7" }).sign(Buffer.from(compact));
    expect((await verify(compact, fields, "--merchant-id", "m-7")).verified).toBe(true);
    const list = ["id", "clientId", "status", "total.value", "total.currency"] as const;
    const short = fieldsSignature({ secret, fields: list }).sign(Buffer.from(compact));
    expect((await verify(compact, short, "--fields", list.join(","))).verified).toBe(true);
  });

  it("names the secret during a rotation, and accepts capital letters", async () => {
    const old = "the-old-secret-of-last-summer-9f2c4b7a";
    const rotated = await verify(compact, hex(compact, old), "--secret", secret, "--secret", old);
    expect([rotated.code, rotated.verified, rotated.codes]).toEqual([0, true, ["secret_other"]]);
    expect(rotated.findings[0]).toMatchObject({
      severity: "note",
      message: expect.stringContaining("--secret (2.)"),
    });
    const capital = await verify(compact, hex(compact).toUpperCase());
    expect([capital.code, capital.codes]).toEqual([0, ["signature_upper_case"]]);
  });

  const bytes = "9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b0011223344556677";
  const base64 = Buffer.from(bytes, "hex").toString("base64");
  const pretty = JSON.stringify(payload, null, 2);
  const listed = (...names: string[]) => {
    const data = payload.data as Record<string, string> & { total: Record<string, string> };
    const values: Record<string, string | undefined> = {
      merchantId: "m-7",
      "total.value": data.total["value"],
      "total.currency": data.total["currency"],
    };
    return names.map((name) => values[name] ?? data[name]).join(",");
  };
  const usual = ["id", "merchantId", "clientId", "total.value", "total.currency", "submittedAt", "status"];

  const required = ["id", "clientId", "status", "total.value", "total.currency"];
  const short = String.raw`{"b":"é & 1/2","a":[1,{"d":2,"c":3}]}`;

  it.each([
    ["sorts the keys", String.raw`{"a":[1,{"c":3,"d":2}],"b":"é & 1/2"}`],
    ["escapes as Go does", String.raw`{"b":"é \u0026 1/2","a":[1,{"d":2,"c":3}]}`],
    ["escapes as PHP does", String.raw`{"b":"\u00e9 & 1\/2","a":[1,{"d":2,"c":3}]}`],
    ["adds spaces as Python does", String.raw`{"b": "é & 1/2", "a": [1, {"d": 2, "c": 3}]}`],
    ["adds spaces, and writes ASCII", String.raw`{"b": "\u00e9 & 1/2", "a": [1, {"d": 2, "c": 3}]}`],
    ["writes ASCII", String.raw`{"b":"\u00e9 & 1/2","a":[1,{"d":2,"c":3}]}`],
    ["indents by four spaces", JSON.stringify(JSON.parse(short), null, 4)],
    ["indents by tabs", JSON.stringify(JSON.parse(short), null, "\t")],
  ])("finds out that a program wrote the body again before it was signed, which %s", async (_, written) => {
    for (const body of [short, `\ufeff${short}`]) {
      const { code, codes } = await verify(body, hex(written));
      expect([code, codes]).toEqual([1, ["body_reserialised"]]);
    }
  });

  it.each<[string, string | Buffer, string, string[], string[]]>([
    ["a secret with a line break", compact, hex(compact), ["--secret", `${secret}\n`], ["secret_padded"]],
    [
      "a secret that was issued with a line break",
      compact,
      hex(compact, `${secret}\n`),
      [],
      ["secret_padded"],
    ],
    ["a secret in quotation marks", compact, hex(compact), ["--secret", `"${secret}"`], ["secret_quoted"]],
    [
      "a secret in hexadecimal",
      compact,
      hex(compact, Buffer.from(bytes, "hex")),
      ["--secret", bytes],
      ["secret_encoded"],
    ],
    [
      "a secret in base64",
      compact,
      hex(compact, Buffer.from(base64, "base64")),
      ["--secret", base64],
      ["secret_encoded"],
    ],
    [
      "the secret of another variable",
      compact,
      hex(compact, environment.PAY_SECRET_OF_STAGING),
      [],
      ["secret_other"],
    ],
    ["a body that was indented", pretty, hex(compact), [], ["body_reserialised"]],
    ["a body that was parsed and written again", compact, hex(pretty), [], ["body_reserialised"]],
    ["a body that Python wrote", compact, hex(python(payload)), [], ["body_reserialised"]],
    ["a body that PHP wrote", compact, hex(php(compact)), [], ["body_reserialised"]],
    ["a line break at the end", `${compact}\n`, hex(compact), [], ["body_line_ending"]],
    ["a missing line break at the end", compact, hex(`${compact}\n`), [], ["body_line_ending"]],
    ["line breaks of another system", pretty.replaceAll("\n", "\r\n"), hex(pretty), [], ["body_line_ending"]],
    [
      "fields where the body was expected",
      compact,
      hex(listed(...usual)),
      ["--scheme", "hmac", "--merchant-id", "m-7"],
      ["scheme_other"],
    ],
    [
      "the body where fields were expected",
      compact,
      hex(compact),
      ["--merchant-id", "m-7"],
      ["scheme_other"],
    ],
    [
      "fields in another order",
      compact,
      hex(listed("status", "id", "clientId", "merchantId", "total.currency", "total.value", "submittedAt")),
      ["--merchant-id", "m-7"],
      ["fields_other"],
    ],
    [
      "one more field",
      compact,
      hex(listed(...usual, "providerId")),
      ["--merchant-id", "m-7"],
      ["fields_other"],
    ],
    [
      "another separator",
      compact,
      hex(listed(...usual).replaceAll(",", "|")),
      ["--merchant-id", "m-7"],
      ["fields_other"],
    ],
    [
      "fields without merchantId",
      compact,
      hex(listed(...usual.filter((name) => name !== "merchantId"))),
      ["--merchant-id", "m-7"],
      ["merchant_id_other"],
    ],
    [
      "a signed field that the body lacks",
      JSON.stringify({ ...payload, data: { ...payload.data, providerId: undefined } }),
      hex(`${listed(...usual)},`),
      ["--merchant-id", "m-7"],
      ["fields_other"],
    ],
    [
      "SHA-512 over fields, of which some are not under data",
      compact,
      hex(`payment,payment.completed,${payload.timestamp},${listed(...required)}`, secret, "sha512"),
      ["--fields", ["type", "topic", "timestamp", ...required].join(",")],
      ["algorithm_other"],
    ],
    ["SHA-512", compact, hex(compact, secret, "sha512"), [], ["algorithm_other"]],
    ["SHA-1", compact, hex(compact, secret, "sha1"), [], ["algorithm_other"]],
    ["base64", compact, hmac(compact).digest("base64"), [], ["signature_base64"]],
    ["a prefix", compact, `sha256=${hex(compact)}`, [], ["signature_prefixed"]],
    ["quotation marks", compact, ` "${hex(compact)}"`, [], ["signature_padded"]],
    ["a signature by a secret that is not known here", compact, hex("something else"), [], ["secret_wrong"]],
  ])("finds out %s", async (_what, body, signature, more, codes) => {
    const { code, verified, codes: found, findings, stdout, stderr } = await verify(body, signature, ...more);
    expect(found.toSorted()).toEqual(codes);
    expect([code, verified]).toEqual([1, false]);
    for (const one of findings) expect(one.fix).toBe(hypotheses[one.code as DiagnosisCode].fix);
    for (const hidden of [secret, bytes, environment.PAY_SECRET_OF_STAGING, hex(compact)]) {
      const said = (stdout + stderr).replaceAll(signature, "");
      expect(said).not.toContain(hidden);
    }
  });

  it("finds the body of another payment in the file beside it", async () => {
    const other = JSON.stringify(completedBody({ clientId: "c-2" }));
    mkdirSync(path.join(folder.path, "payments"));
    folder.write("payments/second.json", other);
    const file = folder.write("payments/first.json", compact);
    const ran = await runCli(["verify", file, "--signature", hex(other), "--secret", secret, "--json"]);
    expect(documentOf(ran).findings).toMatchObject([
      { code: "body_other", message: expect.stringContaining("second.json") },
    ]);
  });

  it("looks for another body only in small files of the same type", async () => {
    const other = JSON.stringify(completedBody({ clientId: "c-2" }));
    const big = JSON.stringify({ note: "x".repeat(64 * 1024) });
    mkdirSync(path.join(folder.path, "mixed"));
    folder.write("mixed/second.txt", other);
    folder.write("mixed/third.json", big);
    const file = folder.write("mixed/first.json", compact);
    for (const body of [other, big]) {
      const ran = await runCli(["verify", file, "--signature", hex(body), "--secret", secret, "--json"]);
      expect(documentOf(ran).findings).toMatchObject([{ code: "secret_wrong" }]);
    }
  });

  it("prints the expected signature only with --show", async () => {
    const shown = await verify(compact, hex("other"), "--show");
    expect(shown.expected).toBe(hex(compact));
    const hidden = await verify(compact, hex("other"));
    expect(hidden.stdout + hidden.stderr).not.toContain(hex(compact));
  });

  it("says no if the kit would not start with such a secret, although the signature is right", async () => {
    const { code, findings } = await verify(compact, hex(compact, "too-short"), "--secret", "too-short");
    expect(code).toBe(1);
    expect(findings).toMatchObject([
      { code: "secret_too_short", message: expect.stringContaining("the secret of --secret is shorter") },
    ]);
  });

  it("says no if the kit could not read the fields", async () => {
    const twice = compact.replace('"status"', '"status":"failed","status"');
    const signature = fieldsSignature({ secret, merchantId: "m-7" }).sign(Buffer.from(compact));
    const { code, codes } = await verify(twice, signature, "--merchant-id", "m-7");
    expect([code, codes]).toEqual([1, ["signed_fields_unreadable"]]);
  });
});

describe("tillkit verify --last", () => {
  afterEach(closeAll);

  /** Posts webhooks to the route of a kit that keeps what it refuses, and returns the directory. */
  async function refuse(...bodies: string[]): Promise<string> {
    const directory = path.join(folder.path, `kept-${(count += 1)}`);
    const payments = testKit({
      webhook: { keepRefused: directory },
      now: () => new Date(Date.UTC(2026, 10, (day += 1))),
    });
    const app = appOf(payments);
    for (const body of bodies)
      await post(app)
        .post("/payments/webhook")
        .set({ "content-type": "application/json", "service-signature": hex(body, shifted) })
        .send(body);
    await payments.close();
    return directory;
  }
  const shifted = "whsec_of_the_other_environment_4b7a1d8e";
  let day = 0;

  it("finds the cause for the newest webhook that the kit refused, from the environment alone", async () => {
    const directory = await refuse("{}", compact);
    const env = {
      TILLKIT_WEBHOOK_SECRET: secret,
      TILLKIT_KEEP_REFUSED: directory,
      PAY_SECRET_OF_STAGING: shifted,
    };
    const ran = await runCli(["verify", "--last", "--json"], { env });
    const document = documentOf(ran);
    expect(document).toMatchObject({
      verified: false,
      bytes: Buffer.byteLength(compact),
      refused: "signature_mismatch",
      findings: [{ code: "secret_other", message: expect.stringContaining("PAY_SECRET_OF_STAGING") }],
    });
    expect(ran.stderr).toContain(`${document.file}: refused at 2026-11-`);
    expect(ran.stderr).toContain("Older files that are kept: 1.");
  });

  it("says that the kit does not keep a signature in a header for credentials", async () => {
    const directory = path.join(folder.path, "kept-authorization");
    const signature = hmacSignature({ secret, header: "Authorization" });
    const payments = testKit({ webhook: { keepRefused: directory }, signature });
    const given = { "content-type": "application/json", authorization: hex(compact, shifted) };
    await post(appOf(payments)).post("/payments/webhook").set(given).send(compact).expect(401);
    await payments.close();
    const argv = ["verify", "--last", "--kept", directory, "--header", "Authorization"];
    const ran = await runCli([...argv, "--secret", secret, "--json"]);
    expect(ran.code).toBe(1);
    expect(documentOf(ran).findings).toMatchObject([
      { code: "signature_missing", message: expect.stringContaining("the kit did not keep it") },
    ]);
  });

  it("takes the directory as an option, and the body of another request for an explanation", async () => {
    const directory = await refuse("{}", compact);
    const other = readdirSync(directory).toSorted()[0]!;
    const file = path.join(directory, "2027-x.http");
    writeFileSync(file, `POST / HTTP/1.1\r\nservice-signature: ${hex("{}")}\r\n\r\n${compact}`);
    const env = { TILLKIT_KEEP_REFUSED: path.join(folder.path, "kept-elsewhere") };
    const ran = await runCli(["verify", "--last", "--kept", directory, "--secret", secret], { env });
    expect(ran.stdout).toContain("body_other");
    expect(ran.stdout).toContain(other);
    expect(ran.code).toBe(1);
  });

  it("says what to do where nothing is kept", async () => {
    const ask = (...argv: string[]) => runCli(["verify", ...argv, "--secret", secret]);
    expect((await ask("--last")).stderr).toContain("give --kept, or set TILLKIT_KEEP_REFUSED");
    const empty = folder.write("kept-none", "");
    expect((await ask("--last", "--kept", empty)).stderr).toContain("file_unreadable");
    mkdirSync(path.join(folder.path, "kept-empty"));
    const none = await ask("--last", "--kept", path.join(folder.path, "kept-empty"));
    expect(none.stderr).toContain("error file_unreadable: No refused webhook was kept in");
    const fix = none.stderr.replaceAll(/\s+/g, " ");
    expect(fix).toMatch(
      /fix: Restart the app with TILLKIT_KEEP_REFUSED=.*kept-empty.* send the webhook again\./,
    );
    expect(none.code).toBe(3);
    expect((await ask("a.json", "--last", "--kept", empty)).stderr).toContain("Give either <file> or --last");
    expect((await ask("--signature", "ab")).stderr).toContain("needs <file>, or --last");
  });
});

describe("tillkit verify --request", () => {
  const request = (headers: string) =>
    `POST /payments/webhook HTTP/1.1\r\nHost: shop.example\r\n${headers}\r\n\r\n${compact}`;
  const ask = async (text: string, ...more: string[]) => {
    const argv = ["verify", "-", "--request", "--secret", secret, ...more, "--json"];
    return runCli(argv, { stdin: text });
  };

  it("takes the signature and the body from the captured request", async () => {
    const right = request(`Content-Type: application/json\r\nservice-signature: ${hex(compact)}`);
    expect((await ask(right)).code).toBe(0);
    expect((await ask(right.replaceAll("\r\n", "\n"))).code).toBe(0);
    const file = folder.write("right.http", right);
    const plain = await runCli(["verify", file, "--request", "--secret-env", "PAY_S"], {
      env: { PAY_S: secret },
    });
    expect(plain.stdout).toContain("It is about c-1, completed, 1475 KMF, number MVK-778.");
    expect(plain.stdout).toContain(`\n  tillkit replay ${file} --secret-env PAY_S\n`);
    const secretly = await runCli(["verify", file, "--request", "--secret", secret]);
    expect(secretly.stdout).toContain(`\n  tillkit replay ${file}\n`);
    const stdin = await runCli(["verify", "-", "--request", "--secret", secret], { stdin: right });
    expect(stdin.stdout).toContain("It is about c-1, ");
    expect(stdin.stdout).not.toContain("tillkit replay");
    expect(documentOf(await ask(right)).about).toMatchObject({
      clientId: "c-1",
      status: "completed",
      total: { value: "1475", currency: "KMF" },
      providerId: "MVK-778",
      unsigned: [],
    });
    const named = request(`X-Pay: ${hex(compact)}`);
    expect((await ask(named, "--header", "X-Pay")).code).toBe(0);
  });

  it("ends the headers at the first empty line, and joins a header that is there twice", async () => {
    const body = `{"note":1}\r\n\r\n`;
    expect((await ask(`Service-Signature: ${hex(body)}\n\n${body}`)).code).toBe(0);
    const twice = request(`Service-Signature: ${hex(compact)}\r\nService-Signature: ${hex(compact)}`);
    expect((await ask(twice)).code).toBe(1);
  });

  it("says that the kit cannot read a signed body, or does not know its status", async () => {
    const say = (body: string) => runCli([...argvOf(body), "--signature", hex(body)]);
    const argvOf = (body: string) => ["verify", folder.write("signed.body", body), "--secret", secret];
    const unknown = await say(compact.replace('"completed"', '"paid"'));
    expect(unknown.stdout).toContain("The kit does not know this status: the payment would stay as it is.");
    const flat = compact.replace('"data"', '"payment"');
    const reason = "data.id: expected text of 1 to 128 characters, got nothing";
    expect((await say(flat)).stdout).toContain(`The kit cannot read the webhook: ${reason}.`);
    const json = await runCli([...argvOf(flat), "--signature", hex(flat), "--json"]);
    expect(documentOf(json)).toMatchObject({ verified: true, unreadable: reason });
  });

  it("finds the signature in a header of another name, and says if there is none", async () => {
    const other: Document = documentOf(await ask(request(`X-Signature: sha256=${hex(compact)}`)));
    expect(other.findings.map(({ code }) => code)).toEqual(["signature_header_other", "signature_prefixed"]);
    expect(other.findings[0]!.message).toContain("x-signature");
    const none: Document = documentOf(await ask(request("Accept: */*")));
    expect(none.findings.map(({ code }) => code)).toEqual(["signature_missing", "signature_unexplained"]);
  });

  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = folder.write("other.pem", publicKey.export({ type: "spki", format: "pem" }));
  const secretFile = folder.write("secret.txt", secret);
  const otherFile = folder.write("other.txt", `other-${secret}`);
  const fields = ["id", "clientId", "status", "total.value", "total.currency"] as const;
  const bytes = Buffer.from(compact);

  it.each([
    [
      ["--scheme", "hmac", "--secret-file", secretFile, "--algorithm", "sha512", "--header", "X-Pay"],
      `X-Pay: ${hex(compact, secret, "sha512")}`,
    ],
    [
      ["--secret-env", "PAY_S", "--merchant-id", "m-7", "--fields", fields.join(",")],
      `Service-Signature: ${fieldsSignature({ secret, merchantId: "m-7", fields }).sign(bytes)}`,
    ],
    [
      [
        "--secret-file",
        otherFile,
        "--secret-file",
        secretFile,
        "--secret-env",
        "PAY_S",
        "--secret-env",
        "PAY_T",
      ],
      `Service-Signature: ${hex(compact)}`,
    ],
    [
      ["--scheme", "public-key", "--public-key", pem],
      `Service-Signature: ${signWith(null, bytes, privateKey).toString("hex")}`,
    ],
  ])("prints the command that records the webhook with the same options: %j", async (argv, header) => {
    const file = folder.write("options.http", request(header));
    const env = { PAY_S: secret, PAY_T: `t-${secret}` };
    const { stdout } = await runCli(["verify", file, "--request", ...argv], { env });
    expect(stdout).toContain(`\n  tillkit replay ${file} ${argv.join(" ")}\n`);
  });

  it.each([[], ["--signature", "ab", "--last"], ["--request", "--last"], ["--signature", "ab", "--request"]])(
    "needs one of --signature, --request and --last: %j %j %j",
    async (...argv) => {
      expect(await runCli(["verify", "body.json", ...argv, "--secret", secret])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Give one of --signature, --request and --last."),
      });
    },
  );

  it("refuses options that would change nothing", async () => {
    expect((await ask(request("A: b"), "--kept", "refused")).stderr).toContain("only be used with --last");
    expect((await ask(request("A: b"), "--public-key", "a.pem")).stderr).toContain("scheme here is hmac");
  });

  it("refuses a file that is not a request, and two ways to give a signature", async () => {
    expect(await ask(compact)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("command_operand_invalid"),
    });
    const both = await ask(request("A: b"), "--signature", "ab");
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("one of --signature, --request and --last"),
    });
  });
});

describe("tillkit verify --scheme public-key", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const pem = folder.write("service.pem", publicKey.export({ type: "spki", format: "pem" }));
  const key = ["--scheme", "public-key", "--public-key", pem, "--secret-env", "UNUSED"];
  const made = (body: string) => signWith("sha256", Buffer.from(body), privateKey);
  const ask = async (body: string, signature: string) => {
    const file = folder.write("signed.body", body);
    const argv = ["verify", file, "--signature", signature, ...key, "--json"];
    const ran = await runCli(argv, { env: { UNUSED: "-" } });
    return { code: ran.code, codes: (documentOf(ran) as Document).findings.map(({ code }) => code) };
  };

  it("checks, and says why not", async () => {
    expect(await ask(compact, made(compact).toString("hex"))).toEqual({ code: 0, codes: [] });
    expect(await ask(compact, made(compact).toString("base64"))).toEqual({
      code: 1,
      codes: ["signature_base64"],
    });
    expect((await ask(compact, made("another").toString("hex"))).codes).toEqual(["signature_unexplained"]);
  });
});

describe("tillkit verify with an RSA key", () => {
  it("does not report the configured algorithm as another one", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = folder.write("rsa.pem", publicKey.export({ type: "spki", format: "pem" }));
    const ask = async (body: string, algorithm: string) => {
      const file = folder.write("rsa.body", body);
      const key = ["--scheme", "public-key", "--public-key", pem, "--algorithm", algorithm];
      const ran = await runCli(["verify", file, "--signature", signature.toString("hex"), ...key, "--json"]);
      return (documentOf(ran) as Document).findings.map(({ code }) => code);
    };
    const signature = signWith("sha256", Buffer.from(compact), privateKey);
    expect(await ask(`${compact}\n`, "rsa-sha256")).toEqual(["body_line_ending"]);
    expect(await ask(compact, "rsa-pss-sha256")).toEqual(["algorithm_other"]);
  });
});

describe("the text for people", () => {
  it("names the wrong secret first, and where it was found", async () => {
    const file = folder.write("wrong.body", compact);
    const argv = ["verify", file, "--signature", hex(compact, "the secret of the service")];
    const { stdout } = await runCli(argv, { env: { TILLKIT_WEBHOOK_SECRET: secret }, cwd: folder.path });
    expect(stdout).toMatch(
      /^The signature does not match .*\n\nerror secret_wrong\n {2}Most likely the secret is wrong: .* the one of\s+TILLKIT_WEBHOOK_SECRET\./,
    );
    expect(stdout.match(/^error /gm)).toHaveLength(1);
  });

  it("is one sentence if the signature matches, and otherwise a finding with its fix", async () => {
    const file = folder.write("people.body", compact);
    const argv = ["verify", file, "--secret-file", folder.write("secret", secret)];
    const yes = await runCli([...argv, "--signature", hmacSignature({ secret }).sign(Buffer.from(compact))]);
    expect(yes.stdout).toBe(
      `The signature matches (hmac, sha256, ${Buffer.byteLength(compact)} bytes).\nIt is about c-1, completed, 1475 KMF, number MVK-778.\n`,
    );
    const fields = ["id", "clientId", "status", "total.value", "total.currency"] as const;
    const signature = fieldsSignature({ secret, fields }).sign(Buffer.from(compact));
    const byFields = ["--scheme", "fields", "--fields", fields.join(",")];
    const part = await runCli([...argv, ...byFields, "--signature", signature]);
    expect(part.stdout).toContain(
      "It is about c-1, completed, 1475 KMF.\nNot signed, so anybody can have changed them: ",
    );
    expect(part.stdout).toMatch(/changed them: .*providerId/);
    const no = await runCli([...argv, "--signature", hex(`${compact}\n`)]);
    expect(no.stdout).toContain("The signature does not match");
    expect(no.stdout).toContain(
      "error body_line_ending\n  The signature fits the body with a line break at its end.",
    );
    expect(no.stdout).toContain("fix: Save the body byte for byte");
  });
});

function python(value: unknown): string {
  if (typeof value !== "object" || value === null)
    return JSON.stringify(value).replace("é", String.raw`\u00e9`);
  const pairs = Object.entries(value).map(([key, one]) => `"${key}": ${python(one)}`);
  return `{${pairs.join(", ")}}`;
}

function php(json: string): string {
  return json.replaceAll("/", String.raw`\/`).replace("é", String.raw`\u00e9`);
}
