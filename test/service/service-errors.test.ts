import { LookupError, PaymentCreationError } from "../../src/service/service-errors.js";

const cause = new Error("broken");

describe("an error of the service's client", () => {
  it("has the name of its class", () => {
    const failed = { certainty: "failed" } as const;
    expect(new PaymentCreationError("creation_failed", "No.", failed).name).toBe("PaymentCreationError");
    expect(new LookupError("lookup_failed", "No.").name).toBe("LookupError");
  });

  it("has what is known", () => {
    const creation = { certainty: "uncertain", httpStatus: 500, serviceMessage: "Oh", cause } as const;
    expect(new PaymentCreationError("creation_failed", "No.", creation)).toMatchObject(creation);
    const lookup = { httpStatus: 503, retryAfterMs: 0, cause };
    expect(new LookupError("lookup_failed", "No.", lookup)).toMatchObject(lookup);
  });

  it.each(["httpStatus", "serviceMessage", "retryAfterMs", "cause"])(
    "has no %s where none is known",
    (name) => {
      const unknown = { [name]: undefined };
      const failed = { certainty: "failed", ...unknown } as const;
      expect(new PaymentCreationError("creation_failed", "No.", failed)).not.toHaveProperty(name);
      expect(new LookupError("lookup_failed", "No.", unknown)).not.toHaveProperty(name);
    },
  );
});
