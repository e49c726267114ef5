import { type OptionSpec } from "../terminal/command.js";
import { envFileOption } from "../terminal/environment.js";

/** How a signature is made: what `sign`, `verify` and `doctor` have in common. Each has a variable, as the kit has. */
export const signatureOptions: readonly OptionSpec[] = [
  {
    name: "scheme",
    value: "hmac|fields|public-key",
    choices: ["hmac", "fields", "public-key"],
    summary:
      "What is signed: the whole body, some fields of it, or the body by a private key. Default: TILLKIT_SIGNATURE, " +
      "or hmac (fields where --merchant-id or --fields is given).",
  },
  {
    name: "secret",
    value: "text",
    repeated: true,
    summary:
      "The secret. It shows in the process list and in the shell's history: better use one of the next two.",
  },
  {
    name: "secret-file",
    value: "file",
    repeated: true,
    summary: "A file that holds the secret; a line break at its end is not part of it.",
  },
  {
    name: "secret-env",
    value: "name",
    repeated: true,
    summary:
      "The variable that holds the secret. Default: TILLKIT_WEBHOOK_SECRET, and TILLKIT_WEBHOOK_SECRET_PREVIOUS.",
  },
  {
    name: "merchant-id",
    value: "id",
    summary: "For fields: your identifier at the service. Default: TILLKIT_MERCHANT_ID.",
  },
  {
    name: "fields",
    value: "list",
    summary: "For fields: what is signed, in its order, separated by commas. Default: the kit's own list.",
  },
  {
    name: "algorithm",
    value: "name",
    summary:
      "sha256, sha384 or sha512; for public-key ed25519, ecdsa-sha256, rsa-sha256 or rsa-pss-sha256. " +
      "Default: TILLKIT_SIGNATURE_ALGORITHM, or sha256.",
  },
  {
    name: "header",
    value: "name",
    summary:
      "The header that carries the signature. Default: TILLKIT_SIGNATURE_HEADER, or Service-Signature.",
  },
  envFileOption,
];
