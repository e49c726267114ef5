import { type SqlStoreOptions } from "tillkit/sql";
import { resolveSqlStoreOptions } from "../../../src/store/sql/options.js";

it("the options of a SQL store have the documented defaults, also where one is undefined", () => {
  const defaults = {
    tablePrefix: "tillkit_",
    busyTimeoutMs: 3000,
    maxConnections: 16,
    preparedStatements: true,
  };
  expect(resolveSqlStoreOptions()).toEqual(defaults);
  const unset = Object.fromEntries(Object.keys(defaults).map((name) => [name, undefined]));
  expect(resolveSqlStoreOptions(unset)).toEqual(defaults);
});

it.each([
  { busyTimeoutMs: 0 },
  { busyTimeoutMs: 3_600_000 },
  { maxConnections: 5 },
  { maxConnections: 1000 },
  { tablePrefix: "_" },
  { tablePrefix: `s${"2".repeat(31)}` },
  { preparedStatements: false },
] satisfies SqlStoreOptions[])("the options of a SQL store can be %j", (options) => {
  expect(resolveSqlStoreOptions(options)).toMatchObject(options);
});

it.each([
  { busyTimeoutMs: -1 },
  { busyTimeoutMs: 3_600_001 },
  { busyTimeoutMs: 0.5 },
  { preparedStatements: "false" },
  { tableprefix: "shop_" },
])("the options of a SQL store cannot be %j", (options) => {
  expect(() => resolveSqlStoreOptions(options as SqlStoreOptions)).toThrow(
    expect.objectContaining({ code: "option_invalid" }),
  );
});
