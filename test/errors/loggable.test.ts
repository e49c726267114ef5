import { concealSecret, loggable } from "../../src/errors/conceal-secrets.js";

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

  it("shows no secret in its message, code, stack and causes, nor in a thrown text", () => {
    const secret = "s3cret of the log";
    concealSecret(secret);
    const cause = Object.assign(new Error(`sent ${secret}`), { code: `E_${secret}` });
    const error = new Error(`the service refused ${secret}`, { cause });
    expect(error.stack).toContain(secret);
    const logged = loggable(error);
    expect(JSON.stringify(logged)).not.toContain(secret);
    expect(logged).toMatchObject({
      message: "the service refused [secret]",
      stack: expect.stringContaining("[secret]") as string,
      cause: { message: "sent [secret]", code: "E_[secret]" },
    });
    expect(loggable(`thrown ${secret}`).message).toBe("thrown [secret]");
  });

  it("keeps a code that is a number, and three causes without their stacks", () => {
    const chain = [5, 4, 3, 2, 1].reduce(
      (cause: unknown, code) => Object.assign(new Error(`error ${code}`, { cause }), { code }),
      undefined,
    );
    const logged = loggable(chain);
    expect(logged).toMatchObject({
      code: "1",
      cause: { code: "2", cause: { code: "3", cause: { code: "4" } } },
    });
    const { cause } = logged.cause!.cause!;
    expect([cause!.cause, cause!.stack]).toEqual([undefined, undefined]);
  });
});
