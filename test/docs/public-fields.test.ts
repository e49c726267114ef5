import { publicFields } from "./public-fields.js";

/** The parts of the drivers that the kit uses: their own packages document them. A union's members are told apart by their names. */
const isOfDriver = /^(Sqlite(Database|Statement)|Postgres(Answer|Client|Pool)|(Any)?Mysql(Connection|Pool))$/;
const isUnion = /^(PaymentKey|SandboxEvent)$/;

const fields = publicFields().filter(({ type }) => !isOfDriver.test(type) && !isUnion.test(type));
const described = ({ type, name, place }: (typeof fields)[number]) => `${type}.${name} at ${place}`;

describe("what an editor shows", () => {
  it("is a sentence for every field of every type that the package exports", () => {
    expect(fields.length).toBeGreaterThan(500);
    expect(fields.filter(({ summary }) => summary === "").map(described)).toEqual([]);
  });

  it("is a default for every option that can be left out", () => {
    const options = fields.filter(
      ({ type, isOptional }) => /(?<!^Retire|^Claim)Options$/.test(type) && isOptional,
    );
    expect(options.length).toBeGreaterThan(80);
    expect(options.filter((one) => !one.default).map(described)).toEqual([]);
  });
});
