import { type Session } from "../../../../src/store/sql/driver/sql-tx.js";
import { type WatchedClient } from "../../../../src/store/sql/postgres/pool.js";
import { durabilityWarnings, sharesSessions } from "../../../../src/store/sql/postgres/server-checks.js";

const safe = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  synchronous_standby_names: "",
};

/** Returns the warnings about a server with these settings, and with so many standbys. */
function warningsOf(settings: Partial<typeof safe>, standbys = "0"): Promise<string[]> {
  const rows = Object.entries({ ...safe, ...settings }).map(([name, setting]) => ({
    name,
    setting,
    standbys,
  }));
  const run = async () => ({ rows, affected: rows.length });
  return durabilityWarnings({ run: run as unknown as Session["run"] });
}

describe("the warnings about PostgreSQL", () => {
  it.each([
    ["fsync", "off"],
    ["full_page_writes", "off"],
    ["synchronous_commit", "off"],
    ["synchronous_commit", "local"],
  ])("name %s = %s, with which a commit may be lost", async (name, setting) => {
    expect(await warningsOf({ [name]: setting })).toEqual([
      expect.stringContaining(`PostgreSQL has ${name} = ${setting}: `),
    ]);
  });

  it.each(["on", "remote_write", "remote_apply"])(
    "are none with synchronous_commit = %s",
    async (setting) => {
      expect(await warningsOf({ synchronous_commit: setting })).toEqual([]);
    },
  );

  it("name the standbys for which no commit waits", async () => {
    const warning = expect.stringMatching(/^replication_asynchronous: PostgreSQL has 2 connected/) as string;
    expect(await warningsOf({}, "2")).toEqual([warning]);
    expect(await warningsOf({ synchronous_standby_names: "a" }, "2")).toEqual([]);
    expect(await warningsOf({ fsync: "off" }, "2")).toEqual([expect.any(String), warning]);
  });
});

describe("the check for a pooler that mixes sessions up", () => {
  /** Checks with a client of process 7. `session` is the process that answers. */
  async function check(session: number, keepsNames: boolean) {
    const seen: string[] = [];
    const query = async (statement: string | { text: string }) => {
      const text = typeof statement === "string" ? statement : `named ${statement.text}`;
      seen.push(text.replaceAll(/tillkit_[\w-]+/g, "x"));
      if (session === 0) throw new Error("the connection was lost");
      if (text.includes("pg_backend_pid")) return { rows: [{ number: session }] };
      return { rows: keepsNames && text.includes("pg_prepared_statements") ? [{}] : [] };
    };
    const watched = {
      client: { processID: 7, query },
      ask: (send: () => unknown) => send(),
      giveBack: () => void seen.push("given back"),
      abandon: () => void seen.push("abandoned"),
    };
    const isShared = await sharesSessions(watched as unknown as WatchedClient).catch(() => "failed");
    return { isShared, seen: seen.slice(1) };
  }
  const asked = ["begin", "named select 1", "select 1 from pg_prepared_statements where name = 'x'"];

  it("finds none where the session is the client's own, or does not keep the names of statements", async () => {
    expect(await check(7, true)).toEqual({ isShared: false, seen: ["given back"] });
    expect(await check(8, false)).toEqual({ isShared: false, seen: [...asked, "commit", "given back"] });
  });

  it("finds one by a name that the session keeps, and removes this name in the same transaction", async () => {
    const removed = ['deallocate "x"', "commit", "given back"];
    expect(await check(8, true)).toEqual({ isShared: true, seen: [...asked, ...removed] });
  });

  it("closes its client after a failure", async () => {
    expect(await check(0, true)).toEqual({ isShared: "failed", seen: ["abandoned"] });
  });
});
