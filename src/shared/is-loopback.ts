import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Returns whether the host is a loopback IP address, in brackets or not. `false` for any host name. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  return isIP(address) !== 0 && loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
