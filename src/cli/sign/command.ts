import { type CommandDefinition } from "../terminal/command.js";
import { readBytes } from "../terminal/read-file.js";
import { readSigningScheme, signingOptions } from "./make-scheme.js";

export const signCommand: CommandDefinition = {
  description: [
    "Signs the exact bytes of a file as the service would, and prints the signature in hexadecimal. " +
      "Write the file with printf, because echo adds a line break, and the signature would cover this " +
      "line break.",
  ],
  operand: {
    name: "file",
    summary: "The file with the webhook's body, byte for byte; - for standard input.",
  },
  options: {
    ...signingOptions,
    "--with-header": "Prints the whole header, in the form that curl -H expects.",
  },
  examples: {
    "use the secret from the environment": "tillkit sign body.json",
    "sign the fields that services with this interface sign":
      "tillkit sign body.json --secret-file secret.txt --merchant-id m-7",
    "post a signed webhook to a shop on this machine":
      'curl http://localhost:3000/payments/webhook --data-binary @body.json -H "Content-Type: application/json" ' +
      '-H "$(tillkit sign body.json --with-header --env-file .env)"',
  },
  exitCodes: {
    0: "The signature was printed.",
    2: "The command was used wrongly, there is no secret, or the kit refuses the secret.",
    3: "The file cannot be read, or the fields in the file cannot be signed.",
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
