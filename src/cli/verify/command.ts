import { expectedSignature } from "../sign/make-scheme.js";
import { readSettingsWithSecret, signatureOptions } from "../sign/signature-settings.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type Context } from "../terminal/command.js";
import { printFindings } from "../terminal/finding.js";
import { readBytes, readText } from "../terminal/read-file.js";
import { checkSignature } from "./check-signature.js";
import { findLast, readCapturedRequest, readOtherBodies } from "./read-input.js";

export const verifyCommand: CommandDefinition = {
  description: [
    "Verifies a webhook as the kit does. If the signature does not match, it tries the usual mistakes one " +
      "by one, and says which one fits, with the fix. It tries a space in the secret, a body that was " +
      "parsed and written again, and another scheme, algorithm, list of fields, secret or encoding.",
    "If the signature does not match, it also reads other files of the same type in the same folder, and " +
      "variables whose names contain SECRET, KEY, TOKEN or SIGN. It prints their names, and never their " +
      "values.",
  ],
  operand: {
    name: "file",
    summary: "The body of the webhook, byte for byte; - for standard input. Left out with --last.",
    optional: true,
  },
  options: {
    "--signature <text>": "The signature, as it arrived.",
    "--request":
      "The file is a whole request: headers, an empty line, the body. The signature is taken from it.",
    "--last": "Takes the newest webhook that the kit refused and kept, see webhook.keepRefused.",
    "--kept <directory>": "For --last: the directory of webhook.keepRefused. Default: TILLKIT_KEEP_REFUSED.",
    ...signatureOptions,
    "--public-key <file>": "For public-key: the service's key as PEM. Default: TILLKIT_PUBLIC_KEY.",
    "--show": "Prints the expected signature too. With it, anybody can forge this one webhook.",
  },
  examples: {
    "with the secret of the environment": "tillkit verify body.json --signature 5f0c…",
    "a whole request that was captured": "tillkit verify request.txt --request --env-file .env",
    "the newest webhook that the kit refused and kept":
      "tillkit verify --last --kept ./refused --env-file .env",
    "several secrets, as during a rotation":
      "tillkit verify body.json --signature 5f0c… --secret-file new.txt --secret-file old.txt",
  },
  exitCodes: {
    0: "The signature matches.",
    1: "It does not, or the kit would refuse the webhook or the configuration.",
    2: "Used wrongly; there is no secret.",
    3: "The file cannot be read, or no refused webhook was kept.",
  },
  async run(args, context) {
    const { output } = context;
    const settings = await readSettingsWithSecret(args, context);
    const keyFile = args.get("public-key");
    if (keyFile !== undefined) settings.publicKey = await readText(keyFile, context);
    const { file, isRequest } = await readSource(args, context);
    const bytes = await readBytes(file, context);
    const { headers, rawBody } = isRequest
      ? readCapturedRequest(bytes)
      : { headers: [[settings.header.toLowerCase(), args.get("signature")!] as const], rawBody: bytes };
    const { verified, findings } = await checkSignature({
      settings,
      headers,
      rawBody,
      readOtherBodies: () => readOtherBodies(file, context.cwd, isRequest),
    });
    const valueOf = (name: string) => headers.find(([one]) => one === name)?.[1];
    const [refused, received] = [valueOf("tillkit-refused"), valueOf("tillkit-received")];
    if (refused !== undefined) output.print(`${file}: refused at ${received} with ${refused}.`);

    const { scheme, algorithm, header } = settings;
    const result = verified
      ? output.paint("green", "The signature matches")
      : output.paint("red", "The signature does not match");
    output.print(`${result} (${scheme}, ${algorithm ?? "by the key"}, ${rawBody.length} bytes).`);
    printFindings(findings, output);
    const expected = args.has("show") ? expectedSignature(settings, rawBody) : undefined;
    if (expected !== undefined) output.print(`\nExpected: ${expected}`);
    output.printJson({
      verified,
      scheme,
      ...(algorithm !== undefined && { algorithm }),
      header,
      bytes: rawBody.length,
      ...(refused !== undefined && { file, refused, received }),
      findings,
      ...(expected !== undefined && { expected }),
    });
    return verified && findings.every(({ severity }) => severity !== "error") ? 0 : 1;
  },
};

/** Returns the file, and whether it is a whole request. Throws `command_option_invalid` or `file_unreadable`. */
async function readSource(args: Arguments, context: Context): Promise<{ file: string; isRequest: boolean }> {
  const given = ["signature", "request", "last"].filter((name) => args.has(name));
  if (given.length !== 1) throw optionError("Give one of --signature, --request and --last.");
  if (args.has("last")) return { file: await findLast(args, context), isRequest: true };
  if (args.operand === undefined) throw operandError("tillkit verify needs <file>, or --last.");
  return { file: args.operand, isRequest: args.has("request") };
}
