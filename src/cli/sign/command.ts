import { type CommandDefinition } from "../terminal/command.js";
import { readBytes } from "../terminal/read-file.js";
import { readSigningScheme, signingOptions } from "./make-scheme.js";

export const signCommand: CommandDefinition = {
  description: [
    "Signs the exact bytes of a file, as the service would, and prints the signature in hexadecimal. If " +
      "you type a body with echo, its line break is signed, too. So use printf, or a file.",
  ],
  operand: { name: "file", summary: "The body of the webhook, byte for byte; - for standard input." },
  options: {
    ...signingOptions,
    "--with-header": "Prints the whole header, as curl -H takes it.",
  },
  examples: {
    "with the secret of the environment": "tillkit sign body.json",
    "the list of fields that services with this interface sign":
      "tillkit sign body.json --secret-file secret.txt --merchant-id m-7",
    "post a signed webhook to a shop on this machine":
      'curl http://localhost:3000/payments/webhook --data-binary @body.json -H "Content-Type: application/json" ' +
      '-H "$(tillkit sign body.json --with-header --env-file .env)"',
  },
  exitCodes: {
    0: "The signature was printed.",
    2: "Used wrongly; there is no secret, or the kit refuses it.",
    3: "The file cannot be read, or its fields cannot be signed.",
  },
  async run(args, context) {
    const { output } = context;
    const { settings, scheme } = await readSigningScheme(args, context);
    const rawBody = await readBytes(args.operand!, context);
    const signature = scheme.sign(rawBody);
    for (const warning of scheme.warnings ?? []) output.log(`warning: ${warning}`);
    output.print(args.has("with-header") ? `${scheme.header}: ${signature}` : signature);
    output.printJson({ signature, header: scheme.header, scheme: settings.scheme, bytes: rawBody.length });
    return 0;
  },
};
