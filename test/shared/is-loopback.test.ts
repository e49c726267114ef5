import { isLoopback } from "../../src/shared/is-loopback.js";

it.each(["127.0.0.1", "127.9.9.9", "::1", "[::1]", "0:0:0:0:0:0:0:1", "[::ffff:7f00:1]"])(
  "%s is an address of this machine",
  (host) => expect(isLoopback(host)).toBe(true),
);

it.each(["", "localhost", "128.0.0.1", "127.0.0.1.evil.example", "::2", "[2001:db8::1]"])(
  "%j is none, or is a name",
  (host) => expect(isLoopback(host)).toBe(false),
);
