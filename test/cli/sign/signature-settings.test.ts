import { Readable, Writable } from "node:stream";
import { loadCommand } from "../../../src/cli/commands.js";
import { readSignatureSettings, readVerifyingSettings } from "../../../src/cli/sign/signature-settings.js";
import { readArguments } from "../../../src/cli/terminal/arguments.js";
import { createOutput } from "../../../src/cli/terminal/output.js";
import { temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
folder.write("secret.txt", "of the file\n");
folder.write("windows.txt", "of Windows\r\n");
folder.write("spaces.txt", " with spaces \n\n");

const env = {
  TILLKIT_WEBHOOK_SECRET: "the usual one",
  TILLKIT_WEBHOOK_SECRET_PREVIOUS: "the previous one",
  PAY_SECRET: "another one",
};

/** Returns the settings of a command with these options and further variables. */
async function settingsOf(
  argv: readonly string[],
  more: Record<string, string> = {},
  read = readSignatureSettings,
  command = "sign",
) {
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = createOutput({ stdout: nowhere(), stderr: nowhere(), env: {} }, false);
  const context = { stdin: Readable.from([]), cwd: folder.path, env: { ...env, ...more }, output };
  return read(readArguments(await loadCommand(command), ["body.json", ...argv]), context);
}

describe("the secrets of a command", () => {
  it.each([
    [[], ["the usual one", "the previous one"]],
    [["--secret", "given"], ["given"]],
    [
      ["--secret", "given", "--secret", "given too"],
      ["given", "given too"],
    ],
    [["--secret-file", "secret.txt"], ["of the file"]],
    [["--secret-file", "windows.txt"], ["of Windows"]],
    // Only the last line break is not part of the secret.
    [["--secret-file", "spaces.txt"], [" with spaces \n"]],
    [
      ["--secret-file", "secret.txt", "--secret-file", "windows.txt"],
      ["of the file", "of Windows"],
    ],
    [["--secret-env", "PAY_SECRET"], ["another one"]],
    [
      ["--secret", "given", "--secret-env", "PAY_SECRET"],
      ["given", "another one"],
    ],
  ])("with the options %j are %j, and no others of the environment", async (argv, secrets) => {
    expect((await settingsOf(argv)).secrets.map(({ text }) => text)).toEqual(secrets);
  });
});

describe("the signature of a command", () => {
  it.each([
    ["scheme", "SIGNATURE", "fields", "hmac"],
    ["header", "SIGNATURE_HEADER", "X-Pay", "X-Other"],
    ["algorithm", "SIGNATURE_ALGORITHM", "sha512", "sha384"],
    ["merchantId", "MERCHANT_ID", "m-7", "m-8"],
  ])("has the %s of TILLKIT_%s, or of the option", async (field, name, value, other) => {
    const variables = { [`TILLKIT_${name}`]: ` ${value} ` };
    const option = field === "merchantId" ? "--merchant-id" : `--${field}`;
    expect(await settingsOf([], variables)).toMatchObject({ [field]: value });
    expect(await settingsOf([option, other], variables)).toMatchObject({ [field]: other });
  });

  it("has the public key of a variable whose line breaks are written as \\n", async () => {
    const settings = await settingsOf([], { TILLKIT_PUBLIC_KEY: "first\\nsecond" });
    expect(settings.publicKey).toBe("first\nsecond");
  });

  it("has the public key of --public-key, which only the scheme public-key accepts", async () => {
    const argv = ["--public-key", "secret.txt"];
    const verifying = (scheme: string) =>
      settingsOf(
        [...argv, "--scheme", scheme],
        { TILLKIT_PUBLIC_KEY: "other" },
        readVerifyingSettings,
        "verify",
      );
    expect(await verifying("public-key")).toMatchObject({ publicKey: "of the file\n" });
    for (const scheme of ["hmac", "fields"])
      await expect(verifying(scheme)).rejects.toThrow("--public-key is for the scheme public-key");
  });
});
