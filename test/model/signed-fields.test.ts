import {
  decidesNothing,
  fieldPath,
  indispensableFields,
  isSignedField,
  readField,
  readFields,
  signedFields,
} from "../../src/model/signed-fields.js";
import { completedBody } from "../support/webhooks.js";

const body = { ...completedBody() };
const expected = {
  topic: "payment.completed",
  timestamp: "2026-11-20T10:00:05.000Z",
  type: "payment",
  id: "64f0c0ffee64f0c0ffee64f0",
  status: "completed",
  captured: true,
  "total.value": "1475",
  "total.currency": "KMF",
  submittedAt: "2026-11-20T10:00:00.000Z",
  clientId: "c-1",
  providerId: "MVK-778",
  source: "MVK",
};

describe("the fields that a signature can cover", () => {
  it("are read from their places in a webhook, one by one and all in one call", () => {
    expect(readFields(body)).toEqual(expected);
    expect(signedFields.map((field) => readField(body, field))).toEqual(Object.values(expected));
    expect(Object.keys(expected)).toEqual([...signedFields]);
  });

  it("have their path in the body", () => {
    expect(signedFields.map(fieldPath)).toEqual([
      "topic",
      "timestamp",
      "type",
      "data.id",
      "data.status",
      "data.captured",
      "data.total.value",
      "data.total.currency",
      "data.submittedAt",
      "data.clientId",
      "data.providerId",
      "data.source",
    ]);
  });

  it("include those that a payment cannot be completed without", () => {
    expect(indispensableFields).toEqual(["id", "clientId", "status", "total.value", "total.currency"]);
    expect(indispensableFields.every(isSignedField)).toBe(true);
  });

  it("decide something, except for the time and the provider's data", () => {
    expect(signedFields.filter(decidesNothing)).toEqual(["timestamp", "providerId", "source"]);
  });

  it("do not include other names, nor the members of every object", () => {
    for (const name of ["constructor", "toString", "__proto__", "data", "total", "", undefined, 7, ["id"]])
      expect(isSignedField(name)).toBe(false);
  });

  it.each([
    ["nothing", {}],
    ["data that is null", { data: null }],
    ["data that is a string", { data: "id" }],
    ["a total that is a list", { data: { total: ["1475", "KMF"] } }],
  ])("are absent in a body with %s", (_, absent) => {
    expect(Object.values(readFields(absent))).toEqual(Array(signedFields.length).fill(undefined));
    expect(signedFields.map((field) => readField(absent, field))).toEqual(
      Array(signedFields.length).fill(undefined),
    );
  });

  it("are never read from a prototype", () => {
    const inherited: unknown = Object.create(body);
    const inside = { ...body, data: Object.create(body.data) as unknown };
    expect(readField(inherited as never, "topic")).toBeUndefined();
    expect(readField(inside, "clientId")).toBeUndefined();
    expect(readFields(inherited as never).topic).toBeUndefined();
    expect(readFields(inside)).toMatchObject({ clientId: undefined, "total.value": undefined });
  });
});
