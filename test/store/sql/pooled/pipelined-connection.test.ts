import { setImmediate as nextIteration } from "node:timers/promises";
import { PipelinedConnection } from "../../../../src/store/sql/pooled/pipelined-connection.js";

interface Client {
  release(): void;
}

/** A connection that the test opens, and that counts how often it was given back. */
class TestConnection extends PipelinedConnection<{ end(): Promise<void> }, Client> {
  released = 0;
  ended = 0;
  pipelines = true;
  /** Connects the newest call. */
  arrive!: (client?: Client) => void;
  refuse!: (error: Error) => void;
  readonly client: Client = { release: () => void (this.released += 1) };

  protected override async open() {
    return { end: async () => void (this.ended += 1) };
  }

  protected override connect(): Promise<Client> {
    return new Promise((resolve, reject) => {
      this.arrive = (client = this.client) => resolve(client);
      this.refuse = reject;
    });
  }

  protected override canPipeline(): boolean {
    return this.pipelines;
  }
}

/** Begins to take the connection, and resolves when it is being connected. */
async function taking(connection: TestConnection): Promise<{ taken: Promise<Client | undefined> }> {
  const taken = connection.take();
  await nextIteration();
  return { taken };
}

beforeEach(() => jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] }));
afterEach(() => jest.useRealTimers());

it("takes the connection for one at a time, until it is free again", async () => {
  const connection = new TestConnection();
  const { taken } = await taking(connection);
  connection.arrive();
  expect(await taken).toBe(connection.client);
  expect(await connection.take()).toBeUndefined();
  connection.free();
  const again = await taking(connection);
  connection.arrive();
  expect(await again.taken).toBe(connection.client);
});

it("gives a connection back that comes too late, so that the next one can take it", async () => {
  const connection = new TestConnection();
  const { taken } = await taking(connection);
  jest.advanceTimersByTime(100);
  expect(await taken).toBeUndefined();
  expect(await connection.take()).toBeUndefined();
  connection.arrive();
  await nextIteration();
  expect(connection.released).toBe(1);
  const again = await taking(connection);
  connection.arrive();
  expect(await again.taken).toBe(connection.client);
});

it("tries again five seconds after a connection failed, also after one that failed too late", async () => {
  const connection = new TestConnection();
  const { taken } = await taking(connection);
  jest.advanceTimersByTime(100);
  expect(await taken).toBeUndefined();
  connection.refuse(new Error("refused"));
  await nextIteration();
  jest.advanceTimersByTime(4999);
  expect(await connection.take()).toBeUndefined();
  jest.advanceTimersByTime(1);
  const again = await taking(connection);
  connection.arrive();
  expect(await again.taken).toBe(connection.client);
});

it("gives a connection back that cannot pipeline, and is closed from then on", async () => {
  const connection = new TestConnection();
  connection.pipelines = false;
  const { taken } = await taking(connection);
  connection.arrive();
  expect(await taken).toBeUndefined();
  expect([connection.released, connection.ended]).toEqual([1, 1]);
  expect(await connection.take()).toBeUndefined();
});
