import { loggable } from "../../src/errors/conceal-secrets.js";

describe("an error as it is logged", () => {
  it("keeps its name, code, message and stack, and those of its causes", () => {
    const cause = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
    const error = new TypeError("the store is away", { cause });
    expect(loggable(error)).toEqual({
      type: "TypeError",
      message: "the store is away",
      stack: error.stack,
      cause: { type: "Error", message: "connection refused", code: "ECONNREFUSED" },
    });
  });

  it("leaves out what drivers attach to it: statements, addresses, headers", () => {
    const error = Object.assign(new Error("Invalid URL"), {
      input: "mysql://shop:s3cret@db/shop",
      sql: "insert into orders values ('Ali', '+269 321 00 00')",
      config: { headers: { authorization: "Bearer abc" } },
    });
    const logged = JSON.stringify(loggable(error));
    for (const hidden of ["s3cret", "insert", "Bearer"]) expect(logged).not.toContain(hidden);
  });

  it("accepts any thrown value", () => {
    expect(loggable("just text")).toEqual({ type: "string", message: "just text" });
    expect(loggable(undefined)).toEqual({ type: "undefined", message: "undefined" });
  });
});
