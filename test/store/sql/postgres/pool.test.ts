import {
  type PostgresClient,
  type PostgresPool,
  takeClient,
} from "../../../../src/store/sql/postgres/pool.js";

describe("a client of an application's pool", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function poolWith(options: PostgresPool["options"]) {
    let connect!: (client: PostgresClient) => void;
    const connecting = new Promise<PostgresClient>((resolve) => (connect = resolve));
    const pool = { connect: () => connecting, options } as PostgresPool;
    const release = jest.fn();
    const client = { release } as unknown as PostgresClient;
    return { pool, client, release, connect: () => connect(client) };
  }

  it.each([
    ["without options", undefined],
    ["without a limit", { max: 10 }],
    ["whose limit is off", { connectionTimeoutMillis: 0 }],
  ])("is waited for at most 10 s in a pool %s, and given back if it comes later", async (_, options) => {
    const { pool, release, connect } = poolWith(options);
    const taking = takeClient(pool).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await taking).toMatchObject({ message: expect.stringMatching(/^timeout exceeded/) as string });
    expect(release).not.toHaveBeenCalled();
    connect();
    await jest.advanceTimersByTimeAsync(0);
    expect(release).toHaveBeenCalledTimes(1);
  });

  it("is waited for as long as the pool itself waits, if the pool has a limit", async () => {
    const { pool, client, release, connect } = poolWith({ connectionTimeoutMillis: 60_000 });
    const taking = takeClient(pool);
    await jest.advanceTimersByTimeAsync(59_000);
    connect();
    expect(await taking).toBe(client);
    expect(release).not.toHaveBeenCalled();
  });
});
