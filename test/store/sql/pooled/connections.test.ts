import { endsOf } from "../../../../src/store/sql/pooled/connections.js";
import { isMysqlSessionOver } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { isPostgresSessionOver } from "../../../../src/store/sql/postgres/postgres-dialect.js";

/** Returns the ways in which a transaction ends, over a connection that notes what becomes of it. */
function endsOver(query: (sql: string) => Promise<string>) {
  const seen: string[] = [];
  const connection = {
    query: (sql: string) => {
      seen.push(sql);
      return query(sql);
    },
    giveBack: () => void seen.push("given back"),
    cutOff: ({ message }: Error) => void seen.push(`cut off: ${message}`),
  };
  return { seen, ends: endsOf(connection, new Set()) };
}

describe("the connection of a transaction", () => {
  it("is given back once, after a commit or a rollback that succeeded", async () => {
    for (const name of ["commit", "rollback"] as const) {
      const { seen, ends } = endsOver((sql) => Promise.resolve(sql.toUpperCase()));
      await ends[name]();
      ends.abandon();
      expect(seen).toEqual([name, "given back"]);
    }
  });

  it("is cut off after a commit or a rollback that failed, because its transaction may still be open", async () => {
    for (const name of ["commit", "rollback"] as const) {
      const { seen, ends } = endsOver(() => Promise.reject(new Error("refused")));
      await ends[name]().catch(() => undefined);
      ends.giveBack();
      expect(seen).toEqual([name, "cut off: refused"]);
    }
  });
});

describe("a session", () => {
  it.each(["25006", "08006", "57P01"])(
    "is of no more use after PostgreSQL's error %s, also as the cause of another error",
    (code) => {
      expect(isPostgresSessionOver({ code })).toBe(true);
      expect(isPostgresSessionOver({ cause: { code } })).toBe(true);
    },
  );

  it.each(["23505", "40001", "55P03", "57014"])("is used again after PostgreSQL's error %s", (code) => {
    expect(isPostgresSessionOver({ code })).toBe(false);
  });

  it.each([1836, 1874, 1047, 3100, 1053, 1927, 3169])("is of no more use after MySQL's error %i", (errno) => {
    expect(isMysqlSessionOver({ errno })).toBe(true);
  });

  it("is of no more use after MySQL's error 1290 only where the server is read-only", () => {
    const said = (option: string) =>
      isMysqlSessionOver({ errno: 1290, message: `The server is running with the ${option} option` });
    expect([said("--read-only"), said("--super_read_only"), said("--secure-file-priv")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([1062, 1205, 1213].some((errno) => isMysqlSessionOver({ errno }))).toBe(false);
  });
});
