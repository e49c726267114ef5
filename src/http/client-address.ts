import { type IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

/**
 * Whom a failure is counted against: `request.ip`, which is the socket's address unless the application set Express's
 * own `trust proxy`. One subscriber has a whole /64 of IPv6, so that counts as one address. Short whatever a header
 * says, because it is kept.
 */
export function clientAddress(request: IncomingMessage & { ip?: string | undefined }): string {
  return networkOf(request.ip) ?? networkOf(request.socket.remoteAddress) ?? "unknown";
}

/** `undefined` for what is no address: a trusted proxy may pass on any text. */
function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const groups = ipv6Groups(address);
  // An IPv4 peer on a socket that listens for both.
  if (groups.slice(0, 6).join() === "0,0,0,0,0,ffff") return groups.slice(6).map(twoBytes).join(".");
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** All eight groups, in the one spelling that the URL standard gives each. */
function ipv6Groups(address: string): string[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/s, "")}]`);
  const [left = [], right = []] = hostname.slice(1, -1).split("::").map(groupsOf);
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
}

function groupsOf(part: string): string[] {
  return part === "" ? [] : part.split(":");
}

function twoBytes(group: string): string {
  const value = Number.parseInt(group, 16);
  return `${value >> 8}.${value & 255}`;
}
