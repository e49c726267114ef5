import {
  checkCoverage,
  fieldsSignature,
  indispensableFields,
  signedFields,
} from "../../../src/webhook/signature/index.js";
import { problemCodes } from "./refusal.js";

const secret = "k7Jq2vR9sXw4ZbN8cT5yLmP1dFgH6aQe";
const codes = (covers: unknown) => {
  // @ts-expect-error a merchant's scheme may come from JavaScript
  return checkCoverage({ covers }).map(({ code }) => code);
};

const make = (fields: readonly string[]) =>
  // @ts-expect-error any strings
  problemCodes(() => fieldsSignature({ secret, merchantId: "m-7", fields }));

describe("coverage", () => {
  it("is accepted for the whole body, for all fields, and for the indispensable ones", () => {
    expect(codes("body")).toEqual([]);
    expect(codes(signedFields)).toEqual([]);
    expect(codes(indispensableFields)).toEqual([]);
  });

  it.each(indispensableFields)("is too small without %s", (missing) => {
    const covers = signedFields.filter((field) => field !== missing);
    const [problem, ...more] = checkCoverage({ covers });
    expect(problem).toMatchObject({ code: "signature_coverage_too_small", option: "signature.covers" });
    expect(problem?.message).toContain(missing);
    expect(more).toEqual([]);
  });

  it("refuses unknown names, repeated names, and a value that is no list", () => {
    expect(codes([...indispensableFields, "amount"])).toEqual(["signed_field_unknown"]);
    expect(codes([...indispensableFields, "__proto__"])).toEqual(["signed_field_unknown"]);
    expect(codes([...indispensableFields, "id"])).toEqual(["signed_field_unknown"]);
    expect(codes("everything")).toEqual(["option_invalid"]);
    expect(codes(undefined)).toEqual(["option_invalid"]);
  });

  it("is checked when a fieldsSignature is created", () => {
    expect(make(["id", "status"])).toEqual(["signature_coverage_too_small"]);
    expect(make([])).toEqual(["signature_coverage_too_small"]);
    expect(make([...indispensableFields, "captured"])).toEqual(["signed_field_unknown"]);
    expect(make([...indispensableFields, "total"])).toEqual(["signed_field_unknown"]);
    expect(make([...indispensableFields, "status"])).toEqual(["signed_field_unknown"]);
    expect(make([...indispensableFields, "merchantId", "merchantId"])).toEqual(["signed_field_unknown"]);
  });
});
