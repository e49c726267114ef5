import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { sqlStore } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { deferredStore } from "../../../src/kit/options/deferred-store.js";
import { portOf } from "../../service/local-server.js";
import { sqliteProbe } from "../../store/sql/support/application-writes.js";
import { temporaryFiles } from "../../store/sql/support/temporary-files.js";

const nextFile = temporaryFiles();

/** The members of the contract that a store has: its own, and those of its class. */
function membersOf(store: object): string[] {
  const names = [...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))];
  const others = new Set([...Object.getOwnPropertyNames(Object.prototype), "file"]);
  const has = (name: string): boolean => (store as Record<string, unknown>)[name] !== undefined;
  return names.filter((name) => !others.has(name) && has(name)).toSorted();
}

const problemsOf = (open: () => unknown): unknown => {
  try {
    open();
    return undefined;
  } catch (error) {
    return (error as { problems: unknown }).problems;
  }
};

describe("the store that the environment names", () => {
  it.each(["shop.db", "sqlite:shop.db", "postgres://shop@h1/shop", "mysql://shop@h1/shop"])(
    "has every member of the store of %s",
    (database) => {
      const [deferred, loaded] = [deferredStore(database), sqlStore(database)];
      expect(membersOf(deferred)).toEqual(membersOf(loaded));
      const { durable, spoolDirectory } = loaded;
      expect({ ...deferred }).toMatchObject({ durable, ...(spoolDirectory && { spoolDirectory }) });
    },
  );

  it.each([
    "",
    ":memory:",
    "file:",
    "sqlite:file:shop.db",
    "sqlite:a://b",
    "mongodb://h1/shop",
    "postgres://h1,h2/shop",
    "postgres://h1/shop#rest",
    "postgres://h1/shop?preparedStatements=no",
    "POSTGRES://h1/shop",
    "mysql://shop:50%@h1/shop",
  ])("refuses %j immediately, as sqlStore does", (database) => {
    const problems = problemsOf(() => deferredStore(database));
    expect(problems).toEqual([expect.objectContaining({ code: "option_invalid" })]);
    expect(problems).toEqual(problemsOf(() => sqlStore(database)));
  });

  it("opens the file that a relative path meant when the kit was made", async () => {
    const file = nextFile();
    const directory = process.cwd();
    process.chdir(path.dirname(file));
    const store = deferredStore(path.basename(file));
    process.chdir(directory);
    await store.migrate();
    await store.close();
    expect(existsSync(file)).toBe(true);
  });

  it("opens one store for concurrent calls, and none after it was closed", async () => {
    const store = deferredStore(nextFile());
    await Promise.all([store.migrate(), store.find("order-1"), store.registerHandlers([])]);
    await store.close();
    await expect(store.find("order-1")).rejects.toMatchObject({ code: "store_closed" });
  });

  it("can be closed before its first use", async () => {
    const store = deferredStore(nextFile());
    await store.close();
    await expect(store.find("order-1")).rejects.toMatchObject({ code: "store_closed" });
  });
});

describe("the wake of the store that the environment names", () => {
  /** A place where connections to PostgreSQL arrive, and end. */
  const server = createServer((socket) => void socket.destroy());
  let store: ReturnType<typeof deferredStore>;
  beforeEach(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    store = deferredStore(`postgres://shop@127.0.0.1:${portOf(server)}/shop`);
  });
  afterEach(() => once(server.close(), "close"));

  it("connects for a listener, which may be ended twice", async () => {
    const connected = once(server, "connection");
    const stop = store.wake!(() => undefined);
    await connected;
    stop();
    expect(stop).not.toThrow();
    await store.close();
  });

  it("does not connect for a listener that was ended before", async () => {
    const onConnection = jest.fn();
    server.once("connection", onConnection);
    const stop = store.wake!(() => undefined);
    stop();
    expect(stop).not.toThrow();
    // A connection that is being made ends first.
    await store.close();
    expect(onConnection).not.toHaveBeenCalled();
  });
});

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves its wake out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else
  it("wakes a listener once it is loaded, and not one that was ended before", async () => {
    const store = deferredStore(url);
    const events = new EventEmitter();
    const ended = jest.fn();
    store.wake!(ended)();
    const stop = store.wake!(() => void events.emit("woken"));
    // Each subscription wakes every listener once.
    await once(events, "woken");
    stop();
    await store.close();
    expect(ended).not.toHaveBeenCalled();
  });

const files = new WeakMap<object, string>();

testStore({
  name: "SQLite, loaded at its first use",
  async create() {
    const store = await open(nextFile());
    return { store, probe: sqliteProbe(store) };
  },
  reopen: async (store) => open(files.get(store)!),
  test: it,
});

async function open(file: string) {
  const store = deferredStore(file);
  files.set(store, file);
  return store;
}
