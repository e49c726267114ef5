import { expectedSignature, makeScheme } from "../sign/make-scheme.js";
import { readVerifyingSettings, verifyingOptions } from "../sign/signature-settings.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type Context } from "../terminal/command.js";
import { commandLine } from "../terminal/command-line.js";
import { printFindings } from "../terminal/finding.js";
import { isKnownStatus } from "../../model/status-order.js";
import { readMessage } from "../../webhook/message/read-message.js";
import { oneLine } from "../terminal/output.js";
import { readBytes } from "../terminal/read-file.js";
import { checkSignature } from "./check-signature.js";
import { findLast, readCapturedRequest, readOtherBodies } from "./read-input.js";

export const verifyCommand: CommandDefinition = {
  description: [
    "Verifies a webhook as the kit does. If the signature does not match, the command tries the usual " +
      "mistakes, and prints the mistake that explains the signature, with a fix. The usual mistakes are a " +
      "space in the secret, a body that was parsed and written again, and a wrong scheme, algorithm, list " +
      "of fields, secret or encoding.",
    "The command then also reads other files of the same type in the same folder, and variables whose " +
      "names contain SECRET, KEY, TOKEN or SIGN. The command prints the names of these files and " +
      "variables, but never a value.",
  ],
  operand: {
    name: "file",
    summary:
      "The file with the webhook's body, byte for byte; - for standard input. Leave the file out with --last.",
    optional: true,
  },
  options: {
    "--signature <text>": "The signature, exactly as it arrived.",
    "--request":
      "Reads a whole request from the file: headers with the signature, an empty line, and the body.",
    "--last":
      "Verifies the newest webhook that the kit refused and kept; see the option webhook.keepRefused.",
    "--kept <directory>": "With --last: the directory of webhook.keepRefused. Default: TILLKIT_KEEP_REFUSED.",
    ...verifyingOptions,
    "--show":
      "Also prints the expected signature. Anybody who sees that signature can forge this one webhook.",
  },
  examples: {
    "use the secret from the environment": "tillkit verify body.json --signature 5f0c…",
    "verify a whole captured request": "tillkit verify request.txt --request --env-file .env",
    "verify the newest webhook that the kit refused and kept":
      "tillkit verify --last --kept ./refused --env-file .env",
    "try several secrets, as during a rotation":
      "tillkit verify body.json --signature 5f0c… --secret-file new.txt --secret-file old.txt",
  },
  exitCodes: {
    0: "The signature matches.",
    1: "The signature does not match, or the kit would refuse the webhook or the configuration.",
    2: "The command was used wrongly, or there is no secret.",
    3: "The file cannot be read, or no refused webhook was kept.",
  },
  async run(args, context) {
    const { output } = context;
    const settings = await readVerifyingSettings(args, context);
    const { file, isRequest, older = 0 } = await readSource(args, context);
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
    const message = verified ? readMessage({ rawBody, covers: makeScheme(settings).covers }) : undefined;
    const about = message?.kind === "payment" ? factsOf(message) : undefined;
    if (message?.kind === "inadmissible")
      output.print(oneLine(`The kit cannot read the webhook: ${message.reason}.`));
    if (about) {
      output.print(oneLine(`It is about ${factsText(about)}.`));
      if (!isKnownStatus(about.status))
        output.print("The kit does not know this status: the payment would stay as it is.");
      if (about.unsigned.length > 0)
        output.print(`Not signed, so anybody can have changed them: ${about.unsigned.join(", ")}.`);
      const settingsGiven = givenNames.flatMap((name) => args.all(name).flatMap((one) => [`--${name}`, one]));
      if (isRequest && file !== "-")
        output.print(
          `To see what recording it would change:\n  ${commandLine(["replay", file, ...settingsGiven], args)}`,
        );
    }
    if (older > 0)
      output.print(`\nOlder files that are kept: ${older}. To verify one: tillkit verify <file> --request`);
    const expected = args.has("show") ? expectedSignature(settings, rawBody) : undefined;
    if (expected !== undefined) output.print(`\nExpected: ${expected}`);
    output.printJson({
      verified,
      scheme,
      ...(algorithm !== undefined && { algorithm }),
      header,
      bytes: rawBody.length,
      ...(refused !== undefined && { file, refused, received }),
      ...(about && { about }),
      ...(message?.kind === "inadmissible" && { unreadable: message.reason }),
      findings,
      ...(expected !== undefined && { expected }),
    });
    return verified && findings.every(({ severity }) => severity !== "error") ? 0 : 1;
  },
};

/** The signature options that the printed command repeats. `--secret` is not repeated, to keep it secret. */
const givenNames = [
  "scheme",
  "secret-file",
  "secret-env",
  "merchant-id",
  "fields",
  "algorithm",
  "header",
  "public-key",
];

/** Returns a verified webhook's facts about a payment. `unsigned` names the fields that are not signed. */
function factsOf({ verified, untrusted }: Extract<ReturnType<typeof readMessage>, { kind: "payment" }>) {
  const { clientId, status, "total.value": value, "total.currency": currency } = verified;
  const providerId = "providerId" in verified ? String(verified.providerId) : undefined;
  const unsigned = Object.keys(untrusted);
  return { clientId, status, total: { value, currency }, ...(providerId && { providerId }), unsigned };
}

function factsText({ clientId, status, total, providerId }: ReturnType<typeof factsOf>): string {
  const number = providerId && `number ${providerId}`;
  return [clientId, status, `${total.value} ${total.currency}`, number].filter(Boolean).join(", ");
}

/**
 * Returns the file, and whether the file has headers. Throws `command_option_invalid` or
 * `command_operand_invalid` for wrong arguments, or `file_unreadable` if `--last` finds no file.
 */
async function readSource(
  args: Arguments,
  context: Context,
): Promise<{ file: string; isRequest: boolean; older?: number }> {
  const given = ["signature", "request", "last"].filter((name) => args.has(name));
  if (given.length !== 1) throw optionError("Give one of --signature, --request and --last.");
  if (args.has("kept") && !args.has("last")) throw optionError("--kept can only be used with --last.");
  if (args.has("last")) return { ...(await findLast(args, context)), isRequest: true };
  if (args.operand === undefined) throw operandError("tillkit verify needs <file>, or --last.");
  return { file: args.operand, isRequest: args.has("request") };
}
