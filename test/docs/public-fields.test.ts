import { publicFields } from "./public-fields.js";

/** The fields of the types that an application writes or calls. The others are those of a store's records. */
const fields = publicFields().filter(({ type }) =>
  /(?<!^Retire|^Claim)(Options|Query|Request|Router|Payments)$/.test(type),
);
const described = ({ type, name, place }: (typeof fields)[number]) => `${type}.${name} at ${place}`;

describe("what an editor shows", () => {
  it("is a sentence for every field of an option, a query, a request and the kit", () => {
    expect(fields.length).toBeGreaterThan(200);
    expect(fields.filter(({ summary }) => summary === "").map(described)).toEqual([]);
  });

  it("is a default for every option that can be left out", () => {
    const options = fields.filter(({ type, isOptional }) => type.endsWith("Options") && isOptional);
    expect(options.length).toBeGreaterThan(80);
    expect(options.filter((one) => !one.default).map(described)).toEqual([]);
  });
});
