import { failureOf } from "../../../../src/store/over/adapter/answers.js";

/** An error as the other copy of the package makes it: ES modules and CommonJS have a class each. */
class OtherTillkitError extends Error {
  constructor(
    readonly code: string,
    readonly fix = "",
  ) {
    super(`A ${code} of the other copy.`);
  }
}

describe("what an adapter throws", () => {
  it("stays what it is where it is an error of tillkit, also of another copy of the package", () => {
    const error = new OtherTillkitError("store_conflict");
    expect(failureOf("write", error)).toBe(error);
  });

  it.each([TypeError, ReferenceError, SyntaxError, RangeError])("is a bug of the adapter: %p", (Bug) => {
    const error = new Bug("it is wrong");
    expect(failureOf("scan", error)).toMatchObject({ code: "adapter_defective", cause: error });
  });

  it.each([
    ["without a code", new Error("connection lost")],
    ["with a code of a driver", new OtherTillkitError("ECONNRESET")],
    ["with the name of a member of objects", new OtherTillkitError("toString")],
  ])("is store_unavailable where it is an error %s", (_, error) => {
    expect(failureOf("write", error)).toMatchObject({ code: "store_unavailable", cause: error });
  });
});
