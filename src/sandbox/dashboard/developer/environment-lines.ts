import { type Sandbox } from "../../contract.js";

/** The environment of an application made with tillkit that uses this sandbox; one variable a line. */
export function environmentLines({ client, signing, webhookAddresses }: Sandbox, baseUrl: string): string {
  const { scheme, secret, previousSecret, merchantId, header, algorithm } = signing;
  const variables: Record<string, string | undefined> = {
    PUBLIC_URL: publicUrl(webhookAddresses.map(({ url }) => url)),
    DATABASE: "shop.db",
    SERVICE_URL: baseUrl,
    TOKEN_URL: `${baseUrl}/oauth/token`,
    CLIENT_ID: client.clientId,
    CLIENT_SECRET: client.clientSecret,
    SIGNATURE: scheme === "fields" ? scheme : undefined,
    MERCHANT_ID: merchantId,
    SIGNATURE_HEADER: header === "Service-Signature" ? undefined : header,
    SIGNATURE_ALGORITHM: algorithm === "sha256" ? undefined : algorithm,
    WEBHOOK_SECRET: secret,
    WEBHOOK_SECRET_PREVIOUS: previousSecret,
  };
  return Object.entries(variables)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `TILLKIT_${name}=${value}`)
    .join("\n");
}

/** The kit's own webhook address ends so; what stands before it is where its router is mounted. */
function publicUrl(webhookUrls: readonly string[]): string {
  const own = webhookUrls.find((url) => url.endsWith("/webhook"));
  return own?.slice(0, -"/webhook".length) ?? "http://localhost:3000/payments";
}
