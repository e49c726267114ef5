import { TillkitError } from "../../errors/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { readEnvironment } from "../terminal/environment.js";
import { sayFindings } from "../terminal/finding.js";
import { readBytes } from "../terminal/read-file.js";
import { signatureOptions } from "../sign/signature-options.js";
import { readSignatureSettings, remarkOnSecret, requireSecret } from "../sign/signature-settings.js";
import { checkSignature } from "./check-signature.js";
import { readCapturedRequest } from "./captured-request.js";
import { expectedSignature } from "./expected-signature.js";

export const verify: Command = {
  name: "verify",
  summary: "check the signature of a webhook's body, and say why it does not match",
  description: [
    "Checks as the kit does. Where the signature does not match, it tries what usually goes wrong (whitespace in the " +
      "secret, a body that was parsed and written again, another scheme, algorithm, field list, secret or encoding, and " +
      "up to three of them together) and says what would fit, with the fix.",
    "On a mismatch it also looks at other files of the same kind in the same folder, and at variables whose names hold " +
      "SECRET, KEY, TOKEN or SIGN; it names them and never prints what they hold.",
  ],
  operand: { name: "file", summary: "The body of the webhook, byte for byte; - for standard input." },
  options: [
    { name: "signature", value: "text", summary: "The signature, as it arrived." },
    {
      name: "request",
      summary:
        "The file is a whole request: headers, an empty line, the body. The signature is taken from it.",
    },
    ...signatureOptions,
    {
      name: "public-key",
      value: "file",
      summary: "For public-key: the service's key, as PEM. Default: TILLKIT_PUBLIC_KEY.",
    },
    {
      name: "show",
      summary: "Prints the signature that was expected, too. Whoever has it can forge this one webhook.",
    },
  ],
  examples: [
    { summary: "with the secret of the environment", command: "tillkit verify body.json --signature 5f0c…" },
    {
      summary: "a request that was captured whole",
      command: "tillkit verify request.txt --request --env-file .env",
    },
    {
      summary: "several secrets, as during a rotation",
      command: "tillkit verify body.json --signature 5f0c… --secret-file new.txt --secret-file old.txt",
    },
  ],
  exitCodes: {
    0: "The signature matches.",
    1: "It does not, or the kit would refuse the webhook or the configuration.",
    2: "Used wrongly; no secret.",
    3: "The file cannot be read.",
  },
  run: runVerify,
};

async function runVerify(args: Arguments, context: Context) {
  const { output } = context;
  remarkOnSecret(args, context);
  const environment = await readEnvironment(args, context);
  const settings = await readSignatureSettings(args, context, environment);
  const keyFile = args.get("public-key");
  if (keyFile !== undefined) settings.publicKey = (await readBytes(keyFile, context)).toString("utf8");
  requireSecret(settings, environment);
  if (args.has("signature") === args.has("request"))
    throw new TillkitError("command_option_invalid", "Give either --signature or --request.");

  const bytes = await readBytes(args.operand!, context);
  const { headers, rawBody } = args.has("request")
    ? readCapturedRequest(bytes)
    : { headers: [[settings.header.toLowerCase(), args.get("signature")!] as const], rawBody: bytes };
  const found = await checkSignature({
    settings,
    headers,
    rawBody,
    environment,
    file: args.operand!,
    cwd: context.cwd,
  });

  const { verified, findings } = found;
  const how = `${settings.scheme}, ${settings.algorithm ?? "by the key"}, ${rawBody.length} bytes`;
  output.say(
    verified
      ? `${output.paint("green", "The signature matches")} (${how}).`
      : `${output.paint("red", "The signature does not match")} (${how}).`,
  );
  if (found.together > 1) output.say(`${found.together} things together explain it:`);
  sayFindings(findings, output);
  const expected = args.has("show") ? expectedSignature(settings, rawBody) : undefined;
  if (expected !== undefined) output.say(`\nExpected: ${expected}`);
  output.answer({
    verified,
    scheme: settings.scheme,
    ...(settings.algorithm !== undefined && { algorithm: settings.algorithm }),
    header: settings.header,
    bytes: rawBody.length,
    findings,
    ...(expected !== undefined && { expected }),
  });
  return verified && findings.every(({ severity }) => severity !== "error") ? 0 : 1;
}
