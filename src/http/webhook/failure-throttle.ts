import { type IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

/** The limit of failed webhooks from one client address. Over the limit, the answer is 429. */
export interface FailureBudget {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  /** The time at which the tokens were counted, in milliseconds. */
  at: number;
}

/** The maximum number of addresses that are remembered. A forgotten address has a full budget again. */
const maxAddresses = 10_000;

/**
 * Returns a function that counts one failure of a client address in a token bucket. While the address has
 * budget, the function returns `undefined`. Otherwise it returns the number of seconds until there is budget
 * again, at most 60. A webhook is already refused, so the result only selects the status of the answer.
 * Customers' claims use the function too, with other budgets.
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
    // The entry is deleted and set again, so that the first entry of the map has the oldest failure.
    buckets.delete(address);
    buckets.set(address, { tokens: isPaid ? refilled - 1 : refilled, at });
    if (buckets.size > maxAddresses) buckets.delete(buckets.keys().next().value!);
    return isPaid ? undefined : Math.ceil((1 - refilled) / perMs / 1000);
  };
}

/**
 * Returns the address for which a failure counts: `request.ip`, which is the socket's address unless the
 * application set Express's `trust proxy`. A /64 of IPv6 counts as one address, because one subscriber has
 * all of it. The result is short, even if a header is long.
 */
export function clientAddress(request: IncomingMessage & { ip?: string | undefined }): string {
  return networkOf(request.ip) ?? networkOf(request.socket.remoteAddress) ?? "unknown";
}

/** Returns the address or its /64, or `undefined` for another string that a proxy passed on. */
function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const groups = ipv6Groups(address);
  // The client uses IPv4 on a socket that accepts both versions.
  if (groups.slice(0, 6).join() === "0,0,0,0,0,ffff") return groups.slice(6).map(twoBytes).join(".");
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Returns the eight groups of an IPv6 address, in the spelling of the URL standard. */
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
