import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { readEnvironment } from "../terminal/environment.js";
import { readBytes } from "../terminal/read-file.js";
import { makeSigningScheme } from "./make-scheme.js";
import { signatureOptions } from "./signature-options.js";
import { readSignatureSettings, remarkOnSecret, requireSecret } from "./signature-settings.js";

export const sign: Command = {
  name: "sign",
  summary: "compute the signature of a webhook's body",
  description: [
    "Signs the exact bytes of a file, as the service would, and prints the signature in hexadecimal. A body that is " +
      "typed with echo ends in a line break, and that is signed too: use printf, or a file.",
  ],
  operand: { name: "file", summary: "The body of the webhook, byte for byte; - for standard input." },
  options: [
    ...signatureOptions,
    {
      name: "private-key",
      value: "file",
      summary: "For public-key: the private key, as PEM. For trials only: the service keeps its own.",
    },
    { name: "with-header", summary: "Prints the whole header, as curl -H takes it." },
  ],
  examples: [
    { summary: "with the secret of the environment", command: "tillkit sign body.json" },
    {
      summary: "the list of fields that services with this interface sign",
      command: "tillkit sign body.json --secret-file secret.txt --merchant-id m-7",
    },
    {
      summary: "post a signed webhook to a shop on this machine",
      command:
        'curl http://localhost:3000/payments/webhook --data-binary @body.json -H "Content-Type: application/json" ' +
        '-H "$(tillkit sign body.json --with-header --env-file .env)"',
    },
  ],
  exitCodes: {
    0: "The signature was printed.",
    2: "Used wrongly; no secret, or one that the kit refuses.",
    3: "The file cannot be read, or its fields cannot be signed.",
  },
  run: runSign,
};

async function runSign(args: Arguments, context: Context) {
  const { output } = context;
  remarkOnSecret(args, context);
  const environment = await readEnvironment(args, context);
  const settings = await readSignatureSettings(args, context, environment);
  requireSecret(settings, environment);
  const keyFile = args.get("private-key");
  const privateKey = keyFile === undefined ? undefined : (await readBytes(keyFile, context)).toString("utf8");
  const scheme = makeSigningScheme(settings, privateKey);

  const rawBody = await readBytes(args.operand!, context);
  const signature = scheme.sign(rawBody);
  for (const warning of scheme.warnings ?? []) output.remark(`warning: ${warning}`);
  output.say(args.has("with-header") ? `${scheme.header}: ${signature}` : signature);
  output.answer({ signature, header: scheme.header, scheme: settings.scheme, bytes: rawBody.length });
  return 0 as const;
}
