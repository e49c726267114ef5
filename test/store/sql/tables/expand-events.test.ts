import { postgresDialect } from "../../../../src/store/sql/postgres/postgres-dialect.js";
import { eventsPerRound, expandSome } from "../../../../src/store/sql/tables/expand-events.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";

afterEach(() => jest.restoreAllMocks());

/** Expands events of an endless backlog. Each statement takes `statementMs`. */
async function expandBacklog(statementMs: number): Promise<number> {
  let time = 0;
  jest.spyOn(performance, "now").mockImplementation(() => time);
  const run = async () => {
    time += statementMs;
    return { rows: [{ count: eventsPerRound }], affected: 0 };
  };
  const tx = { run } as unknown as Transaction;
  return expandSome(tx, { dialect: postgresDialect, tables: tablesUnder("tillkit_") });
}

describe("an expansion of a large backlog", () => {
  it("makes several rounds in one transaction", async () => {
    expect(await expandBacklog(1)).toBe(postgresDialect.maxExpansionRounds * eventsPerRound);
  });

  it("ends after the first slow round, because the registration of a handler waits for it", async () => {
    expect(await expandBacklog(500)).toBe(eventsPerRound);
  });
});
