import { expectedSignature } from "../sign/make-scheme.js";
import { readSettingsWithSecret, signatureOptions } from "../sign/signature-settings.js";
import { optionError } from "../terminal/arguments.js";
import { type CommandDefinition } from "../terminal/command.js";
import { printFindings } from "../terminal/finding.js";
import { readBytes, readText } from "../terminal/read-file.js";
import { checkSignature } from "./check-signature.js";
import { readCapturedRequest, readOtherBodies } from "./read-input.js";

export const verifyCommand: CommandDefinition = {
  description: [
    "Checks as the kit does. If the signature does not match, it tries the usual mistakes (a space in the secret, a body " +
      "that was parsed and written again, another scheme, algorithm, list of fields, secret or encoding), one at a " +
      "time, and says which one fits, with the fix.",
    "If the signature does not match, it also reads other files of the same type in the same folder, and variables whose names " +
      "contain SECRET, KEY, TOKEN or SIGN. It prints their names, and never their values.",
  ],
  operand: { name: "file", summary: "The body of the webhook, byte for byte; - for standard input." },
  options: {
    "--signature <text>": "The signature, as it arrived.",
    "--request":
      "The file is a whole request: headers, an empty line, the body. The signature is taken from it.",
    ...signatureOptions,
    "--public-key <file>": "For public-key: the service's key as PEM. Default: TILLKIT_PUBLIC_KEY.",
    "--show": "Prints the expected signature too. With it, anybody can forge this one webhook.",
  },
  examples: {
    "with the secret of the environment": "tillkit verify body.json --signature 5f0c…",
    "a whole request that was captured": "tillkit verify request.txt --request --env-file .env",
    "several secrets, as during a rotation":
      "tillkit verify body.json --signature 5f0c… --secret-file new.txt --secret-file old.txt",
  },
  exitCodes: {
    0: "The signature matches.",
    1: "It does not, or the kit would refuse the webhook or the configuration.",
    2: "Used wrongly; there is no secret.",
    3: "The file cannot be read.",
  },
  async run(args, context) {
    const { output } = context;
    const settings = await readSettingsWithSecret(args, context);
    const keyFile = args.get("public-key");
    if (keyFile !== undefined) settings.publicKey = await readText(keyFile, context);
    if (args.has("signature") === args.has("request"))
      throw optionError("Give either --signature or --request.");

    const file = args.operand!;
    const bytes = await readBytes(file, context);
    const { headers, rawBody } = args.has("request")
      ? readCapturedRequest(bytes)
      : { headers: [[settings.header.toLowerCase(), args.get("signature")!] as const], rawBody: bytes };
    const { verified, findings } = await checkSignature({
      settings,
      headers,
      rawBody,
      readOtherBodies: () => readOtherBodies(file, context.cwd),
    });

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
      findings,
      ...(expected !== undefined && { expected }),
    });
    return verified && findings.every(({ severity }) => severity !== "error") ? 0 : 1;
  },
};
