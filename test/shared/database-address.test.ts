import path from "node:path";
import { readDatabase } from "../../src/shared/database-address.js";

const problem = (database: string) => {
  try {
    readDatabase(database);
    return undefined;
  } catch (error) {
    return error as { code: string; message: string };
  }
};

describe("the name of a database", () => {
  it.each([
    ["shop.db", "sqlite"],
    ["sqlite:shop.db", "sqlite"],
    ["sqlite://shop.db", "sqlite"],
    ["file:shop.db", "sqlite"],
  ])("%s is a file, with its absolute path", (database, kind) => {
    expect(readDatabase(database)).toEqual({ kind, at: path.resolve("shop.db") });
  });

  it.each([
    ["postgres://shop:p@h1:5432/shop", "postgres"],
    ["postgresql://shop@h1/shop?preparedStatements=false", "postgres"],
    ["postgres://shop@/shop?host=/run/postgresql", "postgres"],
    ["mysql://shop:p%23w@h1/shop", "mysql"],
    ["mariadb://shop@h1/shop?ssl={}", "mysql"],
  ])("%s is an address, and is used unchanged", (database, kind) => {
    expect(readDatabase(database)).toEqual({ kind, at: database });
  });

  it.each([
    ["a part after #, which may be the rest of the password", "postgres://shop:hunter2#x@h1/shop"],
    ["a part after # of MySQL", "mysql://shop:hunter2@h1/shop#rest"],
    ["several hosts", "postgres://shop:hunter2@h1,h2/shop"],
    ["target_session_attrs", "postgres://shop:hunter2@h1/shop?target_session_attrs=read-write"],
    ["another value of preparedStatements", "postgres://shop:hunter2@h1/shop?preparedStatements=off"],
    ["TLS that mysql2 does not read", "mysql://shop:hunter2@h1/shop?useSSL=true"],
    ["TLS of MySQL without its options", "mysql://shop:hunter2@h1/shop?ssl=true"],
    ["sslmode of MySQL", "mysql://shop:hunter2@h1/shop?sslmode=require"],
    ["another kind of database", "mongodb://shop:hunter2@h1/shop"],
    ["no file", "sqlite:"],
    ["a database in memory", ":memory:"],
    ["an address instead of a file", "sqlite:https://shop:hunter2@h1"],
  ])("is refused without a password in the message: %s", (_, database) => {
    const { code, message } = problem(database)!;
    expect(code).toBe("option_invalid");
    expect(message).not.toContain("hunter2");
  });
});
