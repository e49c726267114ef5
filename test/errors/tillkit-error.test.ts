import {
  ConfigurationError,
  errorFixes,
  hasCode,
  isTillkitError,
  TillkitError,
  WebhookRejectedError,
} from "../../src/errors/index.js";

describe("an error of the kit", () => {
  it("has the fix of its code, or its own", () => {
    expect(new TillkitError("option_invalid", "No.").fix).toBe(errorFixes.option_invalid);
    expect(new TillkitError("option_invalid", "No.", { fix: "Use 1." }).fix).toBe("Use 1.");
  });

  it("has a cause only where one is known, also one that is undefined", () => {
    expect(new TillkitError("option_invalid", "No.")).not.toHaveProperty("cause");
    expect(new TillkitError("option_invalid", "No.", { cause: undefined })).toHaveProperty(
      "cause",
      undefined,
    );
  });

  it.each<[string, unknown, boolean, boolean]>([
    ["its own class", new TillkitError("lease_lost", "No."), true, true],
    ["another copy of the package", Object.assign(new Error("No."), { code: "lease_lost" }), true, true],
    ["the kit, with another code", new TillkitError("option_invalid", "No."), false, true],
    ["a driver", Object.assign(new Error("No."), { code: "ECONNRESET" }), false, false],
    ["Object.prototype", Object.assign(new Error("No."), { code: "toString" }), false, false],
    ["no Error", { code: "lease_lost" }, false, false],
    ["nothing", undefined, false, false],
  ])("is found by its code: %s", (_, error, hasThisCode, isOfTillkit) => {
    expect([hasCode(error, "lease_lost"), isTillkitError(error)]).toEqual([hasThisCode, isOfTillkit]);
  });
});

describe("an error of the configuration", () => {
  const first = { code: "secret_missing", option: "signature.secret", message: "is not set." } as const;
  const second = { code: "option_invalid", option: "sweepMs", message: "must be 1." } as const;

  it("has the code of its only problem", () => {
    const error = new ConfigurationError([first]);
    expect(error).toMatchObject({
      code: "secret_missing",
      fix: errorFixes.secret_missing,
      problems: [first],
    });
  });

  it("has a code of its own for several problems, and names each", () => {
    const error = new ConfigurationError([first, second]);
    expect(error).toMatchObject({ code: "configuration_invalid", problems: [first, second] });
    expect(error.message).toMatch(/\n {2}- signature\.secret: is not set\.\n {2}- sweepMs: must be 1\.$/);
  });
});

it("the error for a refused webhook has the status of its code", () => {
  expect(new WebhookRejectedError("signature_mismatch", "No.").status).toBe(401);
  expect(new WebhookRejectedError("record_unavailable", "No.").status).toBe(503);
});
