import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { because, hostOf } from "../../src/shared/because.js";

const failure = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);

/** Resolves to the error of a connection to a port on which nothing listens. */
const refused = (): Promise<unknown> =>
  new Promise((resolve) => connect(1, "127.0.0.1").on("error", resolve));

describe("the reason at the end of a sentence", () => {
  it("has the address and the code of a refused connection", async () => {
    expect(because(await refused())).toBe(" at 127.0.0.1:1: ECONNREFUSED.");
  });

  it("looks into the error of fetch", async () => {
    const error = await fetch("http://127.0.0.1:2").catch((thrown: unknown) => thrown);
    expect(because(error)).toMatch(/^ at 127\.0\.0\.1:2: ECONNREFUSED\.$/);
  });

  it("has the first of several addresses, and brackets around one of IPv6", () => {
    const first = failure("connect ECONNREFUSED ::1:5", { code: "ECONNREFUSED", address: "::1", port: 5 });
    expect(because(new AggregateError([first, failure("another")]))).toBe(" at [::1]:5: ECONNREFUSED.");
  });

  it("has the name that has no address", () => {
    const error = failure("getaddrinfo ENOTFOUND no.example", { code: "ENOTFOUND", hostname: "no.example" });
    expect(because(error)).toBe(" at no.example: ENOTFOUND.");
  });

  it("has the address that was meant, where the error has none", () => {
    expect(because(failure("timeout expired"), "db.example:5432")).toBe(
      " at db.example:5432: timeout expired.",
    );
  });

  it("says what is wrong with a file", () => {
    let thrown: unknown;
    try {
      readFileSync("/no/such/file");
    } catch (error) {
      thrown = error;
    }
    expect(because(thrown)).toBe(": ENOENT: no such file or directory, open '/no/such/file'.");
  });

  it.each([
    ["postgres://shop:p@ss:w/rd@db.example/shop is wrong", ": postgres://db.example/shop is wrong."],
    ["two\nlines", ": two lines."],
  ])("has no password and one line: %j", (message, expected) => {
    expect(because(failure(message))).toBe(expected);
  });

  it.each([
    ["text", ": text."],
    [undefined, ": undefined."],
    [null, ": null."],
    [failure("", { code: "EPIPE" }), ": EPIPE."],
  ])("is made of whatever is thrown: %p", (thrown, expected) => {
    expect(because(thrown)).toBe(expected);
  });

  it("is fast on hostile text", () => {
    expect(because("://".repeat(100_000))).toHaveLength(": .".length + 500);
  });
});

it.each([
  ["postgres://shop:secret@db.example/shop", "db.example:5432"],
  ["postgres://shop:secret@db.example:6000/shop", "db.example:6000"],
  ["postgres:///shop", undefined],
  ["no address", undefined],
])("reads the host of %s", (address, expected) => {
  expect(hostOf(address, 5432)).toBe(expected);
});
