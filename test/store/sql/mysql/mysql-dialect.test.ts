import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";

// The server caused these errors, and not the record that is written.
it.each([
  1021, 1026, 1037, 1038, 1040, 1041, 1044, 1045, 1047, 1049, 1053, 1114, 1129, 1135, 1142, 1203, 1213, 1226,
  1290, 1317, 1698, 1792, 1836, 1874, 1927, 1969, 3024, 3100, 3101, 3169, 4031,
])("translates MySQL's error %i to store_unavailable", (errno) => {
  const error = { errno, sqlState: "HY000" };
  expect(mysqlDialect.translate(error)).toMatchObject({ code: "store_unavailable", cause: error });
});

it.each([
  ["a value that is taken", 1062, "store_conflict"],
  ["a lock that is not free in time", 1205, "store_busy"],
])("translates MySQL's error about %s", (_, errno, code) => {
  const error = { errno, sqlState: "23000" };
  expect(mysqlDialect.translate(error)).toMatchObject({ code, cause: error });
});

it("takes an error without an SQL state for that of a connection, unless it is a mistake in the code", () => {
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  expect(mysqlDialect.translate(reset)).toMatchObject({ code: "store_unavailable", cause: reset });
  const mistake = new TypeError("value.map is not a function");
  expect(mysqlDialect.translate(mistake)).toBe(mistake);
});

it.each([
  ["Duplicate entry 'k' for key 'shop_webhooks_event'", true],
  ["Duplicate entry 'k' for key 'shop_webhooks.shop_webhooks_event'", true],
  ["Doppelter Eintrag 'it's, \\'x' für Schlüssel 'shop_webhooks_receipt'", true],
  ["Duplicate entry 'e' for key 'shop_events_id'", false],
  ["Duplicate entry 'shop_webhooks_event' for key 'shop_events.shop_events_id'", false],
  ["Duplicate entry 'p' for key 'PRIMARY'", false],
])("knows by its key whether a clash is one of webhooks: %s", (message, isOfWebhooks) => {
  expect(mysqlDialect.isClashIn!(new Error(message), "shop_webhooks")).toBe(isOfWebhooks);
});
