import { type IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

/** The number of failed webhooks of one address that are answered with their own status. */
export interface FailureBudget {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  /** When the tokens were counted, in milliseconds. */
  at: number;
}

/** The number of addresses that are remembered. A forgotten one starts with a full budget. */
const maxAddresses = 10_000;

/**
 * Returns a function that counts one failure of a client address in a token bucket. It returns `undefined` while the
 * address has budget, and otherwise the whole seconds until it has some again, 60 at most. The webhook was refused before:
 * the result only selects the status of the answer.
 */
export function failureThrottle(
  { perMinute, burst }: FailureBudget,
  nowMs: () => number = () => performance.now(),
): (address: string) => number | undefined {
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / 60_000;

  return function spend(address) {
    const at = nowMs();
    const { tokens, at: before } = buckets.get(address) ?? { tokens: burst, at };
    const refilled = Math.min(burst, tokens + (at - before) * perMs);
    const isPaid = refilled >= 1;
    // Deleted and set again, so that the map is in the order of the last failure and the first entry is the oldest.
    buckets.delete(address);
    buckets.set(address, { tokens: isPaid ? refilled - 1 : refilled, at });
    if (buckets.size > maxAddresses) buckets.delete(buckets.keys().next().value!);
    return isPaid ? undefined : Math.ceil((1 - refilled) / perMs / 1000);
  };
}

/**
 * Returns the address that a failure counts against: `request.ip`, which is the socket's address unless the application set
 * Express's `trust proxy`. A /64 of IPv6 counts as one address, because one subscriber has all of it. The result is short
 * whatever a header says.
 */
export function clientAddress(request: IncomingMessage & { ip?: string | undefined }): string {
  return networkOf(request.ip) ?? networkOf(request.socket.remoteAddress) ?? "unknown";
}

/** Returns `undefined` for a string that is no address: a trusted proxy may forward any string. */
function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const groups = ipv6Groups(address);
  // An IPv4 client on a socket that accepts both.
  if (groups.slice(0, 6).join() === "0,0,0,0,0,ffff") return groups.slice(6).map(twoBytes).join(".");
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Returns all eight groups, in the spelling of the URL standard. */
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
