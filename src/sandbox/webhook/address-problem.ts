/**
 * What is wrong with an address for webhooks, or `undefined`. A sandbox calls this machine only, unless it was told
 * otherwise: a forgotten production address must not receive invented payments.
 */
export function webhookAddressProblem(url: string, allowRemote: boolean): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    return `${JSON.stringify(url)} is not an absolute http or https address.`;
  }
  if (allowRemote || isLoopback(parsed.hostname)) return undefined;
  return (
    `${parsed.hostname} is not on this machine. The sandbox sends webhooks to localhost only; ` +
    "set allowRemoteWebhooks to let it send them elsewhere."
  );
}

function isLoopback(hostname: string): boolean {
  // The URL parser has already turned every spelling of an IPv4 address into four decimal numbers.
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
