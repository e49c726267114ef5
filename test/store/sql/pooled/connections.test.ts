import { endsOf, takeOpen } from "../../../../src/store/sql/pooled/connections.js";
import { isMysqlFull, isMysqlSessionOver } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import {
  isPostgresFull,
  isPostgresSessionOver,
} from "../../../../src/store/sql/postgres/postgres-dialect.js";

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

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
    onEnd: (error?: Error) => void seen.push(error ? "ends, lost" : "ends"),
  };
  const open = new Set<() => void>();
  return { seen, open, ends: endsOf(connection, open) };
}

describe("the connection of a transaction", () => {
  it("is given back once, after a commit or a rollback that succeeded", async () => {
    for (const name of ["commit", "rollback"] as const) {
      const { seen, ends } = endsOver((sql) => Promise.resolve(sql.toUpperCase()));
      await ends[name]();
      ends.abandon();
      expect(seen).toEqual([name, "ends", "given back"]);
    }
  });

  it("is cut off after a commit or a rollback that failed, because its transaction may still be open", async () => {
    for (const name of ["commit", "rollback"] as const) {
      const { seen, ends } = endsOver(() => Promise.reject(new Error("refused")));
      await ends[name]().catch(() => undefined);
      ends.giveBack();
      expect(seen).toEqual([name, "ends, lost", "cut off: refused"]);
    }
  });

  it("is not among the open ones of its driver any more, however the transaction has ended", async () => {
    for (const name of ["commit", "rollback", "giveBack", "abandon"] as const) {
      const { open, ends } = endsOver((sql) => Promise.resolve(sql));
      expect(open.size).toBe(1);
      await ends[name]();
      expect(open.size).toBe(0);
    }
  });

  it("is cut off after a rollback of two seconds, because its server may be gone", async () => {
    jest.useFakeTimers();
    const { seen, ends } = endsOver(() => new Promise(() => undefined));
    const ending = ends.rollback();
    await jest.advanceTimersByTimeAsync(1999);
    expect(seen).toEqual(["rollback"]);
    await jest.advanceTimersByTimeAsync(1);
    await ending;
    expect(seen.slice(1)).toEqual(["ends, lost", expect.stringMatching(/^cut off: .*too long/)]);
  });
});

describe("a server that accepts no more connections", () => {
  const full = new Error("too many connections");
  const isFull = (error: unknown): boolean => error === full;

  it("is asked again, until another connection is free", async () => {
    const errors = [full, full];
    const take = async (): Promise<string> => {
      const error = errors.shift();
      if (error) throw error;
      return "a connection";
    };
    expect(await takeOpen(take, isFull)).toBe("a connection");
  });

  it("is asked for three seconds, and not again after another error", async () => {
    let now = 0;
    let tries = 0;
    jest.spyOn(performance, "now").mockImplementation(() => now);
    const failing = (error: Error) => (): Promise<never> => {
      tries++;
      now += 1001;
      return Promise.reject(error);
    };
    await expect(takeOpen(failing(full), isFull)).rejects.toBe(full);
    expect(tries).toBe(3);
    const refused = new Error("refused");
    await expect(takeOpen(failing(refused), isFull)).rejects.toBe(refused);
    expect(tries).toBe(4);
  });

  it("is known by the errors 1040, 1203 and 1226 of MySQL, and by 53300 of PostgreSQL", () => {
    const codes = [1040, 1203, 1226, 1045];
    expect(codes.map((errno) => isMysqlFull({ errno }))).toEqual([true, true, true, false]);
    expect(["53300", "53200"].map((code) => isPostgresFull({ code }))).toEqual([true, false]);
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

  it.each([1836, 1874, 1047, 3100, 1053, 1927, 3169, 4031])(
    "is of no more use after MySQL's error %i",
    (errno) => {
      expect(isMysqlSessionOver({ errno })).toBe(true);
    },
  );

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
