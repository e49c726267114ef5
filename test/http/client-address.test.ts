import { type IncomingMessage } from "node:http";
import { clientAddress } from "../../src/http/webhook/failure-throttle.js";

const addressOf = (ip: string | undefined, remoteAddress?: string) =>
  clientAddress({ ip, socket: { remoteAddress } } as IncomingMessage & { ip?: string });

describe("the address that a failure counts against", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2:ffff::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0:0:4:5:6:7:8", "2001:0:0:4::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ])("is for %s: %s", (ip, address) => {
    expect(addressOf(ip)).toBe(address);
  });

  it("is the socket's address where a header holds something else, however long", () => {
    for (const text of ["unknown", "", "192.0.2.7:8080", "x".repeat(16_000), "2001:db8::1::2", "_hidden"])
      expect(addressOf(text, "192.0.2.9")).toBe("192.0.2.9");
  });

  it("is the socket's address without Express, and a common one where the socket has none any more", () => {
    expect(addressOf(undefined, "::ffff:192.0.2.9")).toBe("192.0.2.9");
    expect(addressOf(undefined)).toBe("unknown");
  });
});
