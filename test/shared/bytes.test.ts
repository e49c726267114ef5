import { asBuffer } from "../../src/shared/bytes.js";

describe("bytes of any kind", () => {
  const bytes = Buffer.from("xxbodyxx");
  const memory = new Uint8Array(bytes).buffer;

  it.each<[string, unknown, string]>([
    ["a Buffer", Buffer.from("body"), "body"],
    ["a part of a Uint8Array", new Uint8Array(memory, 2, 4), "body"],
    ["an ArrayBuffer", memory, "xxbodyxx"],
  ])("become a Buffer of the same bytes: %s", (_, given, expected) => {
    expect(asBuffer(given)?.toString()).toBe(expected);
  });

  it.each([["a string"], [undefined], [null], [{ length: 4 }], [[1, 2]], [new Uint16Array(2)]])(
    "are not %p",
    (given) => {
      expect(asBuffer(given)).toBeUndefined();
    },
  );
});
