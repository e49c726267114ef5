import { Readable, Writable } from "node:stream";
import { loadCommand } from "../../../src/cli/commands.js";
import { readSignatureSettings } from "../../../src/cli/sign/signature-settings.js";
import { readArguments } from "../../../src/cli/terminal/arguments.js";
import { createOutput } from "../../../src/cli/terminal/output.js";
import { temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
folder.write("secret.txt", "of the file\n");

const env = {
  TILLKIT_WEBHOOK_SECRET: "the usual one",
  TILLKIT_WEBHOOK_SECRET_PREVIOUS: "the previous one",
  PAY_SECRET: "another one",
};

describe("the secrets of a command", () => {
  it.each([
    [[], ["the usual one", "the previous one"]],
    [["--secret", "given"], ["given"]],
    [
      ["--secret", "given", "--secret", "given too"],
      ["given", "given too"],
    ],
    [["--secret-file", "secret.txt"], ["of the file"]],
    [["--secret-env", "PAY_SECRET"], ["another one"]],
    [
      ["--secret", "given", "--secret-env", "PAY_SECRET"],
      ["given", "another one"],
    ],
  ])("with the options %j are %j, and no others of the environment", async (argv, secrets) => {
    const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
    const output = createOutput({ stdout: nowhere(), stderr: nowhere(), env: {} }, false);
    const context = { stdin: Readable.from([]), cwd: folder.path, env, output };
    const args = readArguments(await loadCommand("sign"), ["body.json", ...argv]);
    expect((await readSignatureSettings(args, context)).secrets.map(({ text }) => text)).toEqual(secrets);
  });
});
