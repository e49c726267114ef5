import { generateKeyPairSync } from "node:crypto";
import { fieldsSignature, hmacSignature, publicKeySignature } from "tillkit";
import { secret } from "../../support/kit.js";
import { completedBody } from "../../support/webhooks.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const rawBody = Buffer.from(JSON.stringify(completedBody()));
const file = folder.write("body.json", rawBody);
const secretFile = folder.write("secret.txt", `${secret}\n`);
const expected = hmacSignature({ secret }).sign(rawBody);

describe("tillkit sign", () => {
  it("prints the signature that the kit's scheme makes of the file's bytes", async () => {
    const ran = await runCli(["sign", file, "--secret-file", secretFile]);
    expect(ran).toEqual({ code: 0, stdout: `${expected}\n`, stderr: "" });
  });

  it("reads standard input, and the secret from the environment or an --env-file", async () => {
    const envFile = folder.write(".env", `TILLKIT_WEBHOOK_SECRET=${secret}\nPAY_SECRET="${secret}"\n`);
    const sign = (argv: string[], env = {}) => runCli(["sign", "-", ...argv], { stdin: rawBody, env });
    expect((await sign([], { TILLKIT_WEBHOOK_SECRET: secret })).stdout).toBe(`${expected}\n`);
    expect((await sign(["--env-file", envFile])).stdout).toBe(`${expected}\n`);
    expect((await sign(["--env-file", envFile, "--secret-env", "PAY_SECRET"])).stdout).toBe(`${expected}\n`);
    const other = "another secret of enough bytes";
    const ran = await sign(["--env-file", envFile], { TILLKIT_WEBHOOK_SECRET: other });
    expect(ran.stdout).toBe(`${hmacSignature({ secret: other }).sign(rawBody)}\n`);
  });

  it("signs with the first of two secrets, as during a rotation", async () => {
    const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_WEBHOOK_SECRET_PREVIOUS: `old-${secret}` };
    expect((await runCli(["sign", file], { env })).stdout).toBe(`${expected}\n`);
  });

  it("warns of a secret on the command line, and of a short one", async () => {
    const ran = await runCli(["sign", file, "--secret", "seventeen-letters"]);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain("warning secret_on_command_line");
    expect(ran.stderr).toContain("shorter than 32 bytes");
    expect(ran.stderr).not.toContain("seventeen-letters");
  });

  it("signs fields, by a given list or the kit's, and with another algorithm", async () => {
    const base = ["sign", file, "--secret-file", secretFile];
    const byList = fieldsSignature({ secret, merchantId: "m-7" }).sign(rawBody);
    expect((await runCli([...base, "--merchant-id", "m-7"])).stdout).toBe(`${byList}\n`);
    const list = ["id", "status", "clientId", "total.value", "total.currency"] as const;
    const ran = await runCli([...base, "--fields", list.join(", "), "--algorithm", "sha512"]);
    expect(ran.stdout).toBe(
      `${fieldsSignature({ secret, fields: list, algorithm: "sha512" }).sign(rawBody)}\n`,
    );
  });

  it("signs with a private key, by the usual algorithm of its type", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const pem = folder.write("key.pem", privateKey.export({ type: "pkcs8", format: "pem" }));
    const { stdout } = await runCli(["sign", file, "--scheme", "public-key", "--private-key", pem]);
    const scheme = publicKeySignature({ publicKey, algorithm: "ed25519" });
    expect(scheme.verify({ rawBody, headers: { "service-signature": stdout.trim() } })).toBe(true);
  });

  it.each([
    ["ec", { namedCurve: "P-256" }, "ecdsa-sha256"],
    ["rsa", { modulusLength: 2048 }, "rsa-sha256"],
    ["rsa-pss", { modulusLength: 2048 }, "rsa-pss-sha256"],
  ] as const)("signs with a private key of the type %s and %j by %s", async (type, options, algorithm) => {
    const { privateKey, publicKey } = generateKeyPairSync(
      type as "rsa",
      options as { modulusLength: number },
    );
    const pem = folder.write(`${type}.pem`, privateKey.export({ type: "pkcs8", format: "pem" }));
    const { stdout } = await runCli(["sign", file, "--scheme", "public-key", "--private-key", pem]);
    const scheme = publicKeySignature({ publicKey, algorithm });
    expect(scheme.verify({ rawBody, headers: { "service-signature": stdout.trim() } })).toBe(true);
  });

  it("prints the whole header, with its name", async () => {
    const ran = await runCli([
      "sign",
      file,
      "--secret-file",
      secretFile,
      "--with-header",
      "--header",
      "X-Pay",
    ]);
    expect(ran.stdout).toBe(`X-Pay: ${expected}\n`);
  });

  it("prints one JSON document", async () => {
    const ran = await runCli(["sign", file, "--secret", secret, "--json"]);
    expect(documentOf(ran)).toEqual({
      signature: expected,
      header: "Service-Signature",
      scheme: "hmac",
      bytes: rawBody.length,
    });
    expect(ran.stderr).not.toContain(secret);
  });

  it.each([
    [[], {}, 2, "secret_missing"],
    [
      [],
      { PAY_WEBHOOK_SECRET: secret },
      2,
      "The secret may be in another variable: --secret-env PAY_WEBHOOK_SECRET.",
    ],
    [["--secret", "changeme"], {}, 2, "secret_placeholder"],
    [["--secret", `${secret} `], {}, 2, "begins or ends with a space"],
    [["--secret-env", "NOWHERE"], {}, 2, "secret_missing: There is no secret: NOWHERE is not set."],
    [["--secret-file", "nowhere.txt"], {}, 3, "file_unreadable"],
    [["--secret", secret, "--algorithm", "sha1"], {}, 2, "option_invalid"],
    [["--secret", secret, "--scheme", "fields"], {}, 2, "option_missing"],
    [["--scheme", "public-key"], {}, 2, "key_invalid"],
    [["--secret", secret], { TILLKIT_SIGNATURE: "Fields" }, 2, "TILLKIT_SIGNATURE must be hmac, fields or"],
    [["--secret", secret, "--secret-env", "NOWHERE"], {}, 2, "NOWHERE of --secret-env is not set"],
    [
      ["--secret-env", "NOWHERE", "--secret-env", "A"],
      { A: secret },
      2,
      "NOWHERE of --secret-env is not set",
    ],
    [["--secret", secret, "--scheme", "hmac", "--fields", "id"], {}, 2, "--fields is for the scheme fields"],
    [["--secret", secret, "--merchant-id", "m"], { TILLKIT_SIGNATURE: "hmac" }, 2, "the scheme here is hmac"],
    [["--secret", secret, "--private-key", file], {}, 2, "--private-key is for the scheme public-key"],
  ])("with %j and %j ends with %i: %s", async (argv, env, code, message) => {
    const ran = await runCli(["sign", file, ...argv], { env, cwd: folder.path });
    expect([ran.code, ran.stdout]).toEqual([code, ""]);
    expect(ran.stderr).toContain(message);
  });

  it("cannot sign fields of a body without them", async () => {
    const ran = await runCli(["sign", "-", "--secret-file", secretFile, "--merchant-id", "m-7"], {
      stdin: "{}",
    });
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain("signed_fields_unreadable");
  });
});
