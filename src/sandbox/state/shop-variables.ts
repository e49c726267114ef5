import { withoutUndefined } from "../../shared/without-undefined.js";
import { type SigningState } from "./signing.js";
import { type SandboxClient } from "./tokens.js";

/** The facts about a sandbox that its shop needs. */
interface SandboxFacts {
  readonly url: string;
  readonly client: SandboxClient;
  readonly signing: SigningState;
}

/**
 * Returns the environment variables of a shop that uses this sandbox. Variables with the kit's default values
 * are left out.
 */
export function shopVariables({ url, client, signing }: SandboxFacts): Record<string, string> {
  const { scheme, secret, previousSecret, merchantId, header, algorithm } = signing;
  const variables = {
    TILLKIT_SERVICE_URL: url,
    TILLKIT_TOKEN_URL: `${url}/oauth/token`,
    TILLKIT_CLIENT_ID: client.clientId,
    TILLKIT_CLIENT_SECRET: client.clientSecret,
    TILLKIT_SIGNATURE: scheme === "fields" ? scheme : undefined,
    TILLKIT_MERCHANT_ID: merchantId,
    TILLKIT_SIGNATURE_HEADER: header === "Service-Signature" ? undefined : header,
    TILLKIT_SIGNATURE_ALGORITHM: algorithm === "sha256" ? undefined : algorithm,
    TILLKIT_WEBHOOK_SECRET: secret,
    TILLKIT_WEBHOOK_SECRET_PREVIOUS: previousSecret,
  };
  return withoutUndefined(variables);
}
