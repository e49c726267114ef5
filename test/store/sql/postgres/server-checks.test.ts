import { type Session } from "../../../../src/store/sql/driver/sql-tx.js";
import { durabilityWarnings } from "../../../../src/store/sql/postgres/server-checks.js";

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
