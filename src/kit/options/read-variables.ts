import { ConfigurationError } from "../../errors/index.js";
import { clientCredentials, type AccessToken } from "../../service/index.js";
import { type PaymentStore } from "../../store/index.js";
import { fieldsSignature, hmacSignature, publicKeySignature } from "../../webhook/signature/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { refusedDirectoryOf } from "../../shared/refused-files.js";
import { optionInvalid } from "../../shared/unknown-names.js";
import { deferredStore } from "./deferred-store.js";
import { type KeepRefusedOptions, type SpoolDirectoryOptions } from "./options.js";

/** Environment variables, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables of options that several variables set, by the path that a problem names. docs/options.md
 * contains these comments.
 */
export const partVariables = {
  /** A fixed access token */
  "service.accessToken": "TILLKIT_ACCESS_TOKEN",
  /**
   * The token address for OAuth 2 client credentials. If you set client credentials, the kit ignores
   * `TILLKIT_ACCESS_TOKEN`
   */
  "clientCredentials.tokenUrl": "TILLKIT_TOKEN_URL",
  /** The client id that the service gave this shop */
  "clientCredentials.clientId": "TILLKIT_CLIENT_ID",
  /** The secret of this client id */
  "clientCredentials.clientSecret": "TILLKIT_CLIENT_SECRET",
  /** The scope that the kit requests */
  "clientCredentials.scope": "TILLKIT_TOKEN_SCOPE",
  /** `hmac` (default), `fields` or `public-key` */
  "signature.scheme": "TILLKIT_SIGNATURE",
  /** For `hmac` and `fields`: the webhook secret */
  "signature.secret": "TILLKIT_WEBHOOK_SECRET",
  /** The old webhook secret, during a rotation */
  "signature.secret[1]": "TILLKIT_WEBHOOK_SECRET_PREVIOUS",
  /** For `fields`: your identifier at the service */
  "signature.merchantId": "TILLKIT_MERCHANT_ID",
  /** For `public-key`: the service's public key as PEM text. You can write `\n` for a line break */
  "signature.publicKey": "TILLKIT_PUBLIC_KEY",
  /**
   * For `public-key`: `ed25519`, `ecdsa-sha256`, `ecdsa-sha384`, `ecdsa-sha512`, `rsa-sha256` or
   * `rsa-pss-sha256`. For the other schemes: `sha256` (default), `sha384` or `sha512`
   */
  "signature.algorithm": "TILLKIT_SIGNATURE_ALGORITHM",
  /** The name of the signature header, if it is not `Service-Signature` */
  "signature.header": "TILLKIT_SIGNATURE_HEADER",
  /**
   * A file (`shop.db`), or a `postgres://`, `mysql://` or `mariadb://` address. Behind a pooler that shares
   * sessions, use `postgres://…?preparedStatements=false`; see
   * [poolers](docs/failover.md#poolers-in-front-of-postgresql)
   */
  store: "TILLKIT_DATABASE",
} as const;

function textIn(environment: Environment, part: keyof typeof partVariables): string | undefined {
  return environment[partVariables[part]]?.trim() || undefined;
}

export function accessTokenFrom(environment: Environment): AccessToken | undefined {
  const read = (name: "tokenUrl" | "clientId" | "clientSecret" | "scope") =>
    textIn(environment, `clientCredentials.${name}`);
  const [tokenUrl, clientId, clientSecret] = [read("tokenUrl"), read("clientId"), read("clientSecret")];
  if ((tokenUrl ?? clientId ?? clientSecret) === undefined) return textIn(environment, "service.accessToken");
  return clientCredentials({ tokenUrl, clientId, clientSecret, scope: read("scope") });
}

export function signatureFrom(environment: Environment): SignatureScheme {
  const read = (name: "scheme" | "header" | "algorithm" | "merchantId" | "publicKey") =>
    textIn(environment, `signature.${name}`);
  const header = read("header");
  const algorithm = read("algorithm") as never;
  // The secret is not trimmed, because whitespace in it is a mistake that must be reported.
  const current = environment[partVariables["signature.secret"]];
  const previous = environment[partVariables["signature.secret[1]"]];
  const secret = previous ? [current, previous] : current;
  switch (read("scheme") ?? "hmac") {
    case "hmac":
      return hmacSignature({ secret, algorithm, header });
    case "fields":
      return fieldsSignature({ secret, algorithm, header, merchantId: read("merchantId") });
    case "public-key": {
      // Environment variables often contain line breaks as \\n.
      const publicKey = read("publicKey")?.replaceAll("\\n", "\n");
      return publicKeySignature({ publicKey, algorithm, header });
    }
    default:
      throw optionInvalid("signature.scheme", "must be hmac, fields or public-key.");
  }
}

export function storeFrom(environment: Environment): PaymentStore {
  const database = textIn(environment, "store");
  if (database !== undefined) return deferredStore(database);
  const message = "is not set; give a file (shop.db), a postgres:// or a mysql:// address.";
  throw new ConfigurationError([{ code: "option_missing", option: "store", message }]);
}

export function spoolFrom(text: string): SpoolDirectoryOptions | false {
  return /^off$/i.test(text) ? false : { directory: text };
}

export function keepRefusedFrom(text: string): KeepRefusedOptions {
  const directory = refusedDirectoryOf(text) ?? "";
  return { directory, inProduction: directory !== text };
}

export function onOrOff(text: string, option: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw optionInvalid(option, "must be on or off.");
}
