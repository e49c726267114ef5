import { isIP } from "node:net";

const privateNetworks = /^(0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/;

/** Whether an address leads to this machine, or to a network that nobody reaches from outside. */
export function isLocal(address: string | undefined): boolean {
  if (address === undefined || !URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  switch (isIP(host)) {
    case 4:
      return privateNetworks.test(host);
    case 6:
      return host === "::" || host === "::1" || /^f[cd]|^fe[89ab]/.test(host);
    default:
      // A name without a dot is one of the local network, or of a container.
      return !host.includes(".") || /\.(localhost|local|internal|home\.arpa|test)$/.test(host);
  }
}

/** Whether it leads to this very machine. */
export function isThisMachine(address: string): boolean {
  const host = new URL(address).hostname;
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(host);
}
