import { blocked } from "./world.mjs";

/** How the stores of one run work, as the seed chose. */
export function storeFeatures(random) {
  return {
    lazy: random.chance(0.7),
    wake: random.chance(0.5),
    durable: random.chance(0.5),
    over: random.chance(0.25) ? chooseAdapter(random) : undefined,
    // Several runs of one handler in one transaction, each behind a savepoint.
    shared: random.chance(0.5),
  };
}

function chooseAdapter(random) {
  return {
    hasTransactions: random.chance(0.5),
    hasClock: random.chance(0.5),
    // The least that an adapter may take.
    ...(random.chance(0.5) && { maxChanges: 60 }),
  };
}

/** Returns the store of one process: that of the kit over an adapter, or a simulated one. */
export function createStore(world, database, features, kit) {
  const connection = connect(world, database);
  const store = features.over
    ? kit.storeOver(createAdapter(world, database, connection, features))
    : createTables(world, database, connection, features, kit);
  const register = store.registerHandlers.bind(store);
  store.registerHandlers = async (handlers) => {
    database.noteRegistering(handlers);
    const isKnown = handlers.every(({ since }) => since !== undefined);
    if (isKnown && database.registrationMs > 0)
      await new Promise((resolve) => world.setTimer(resolve, database.registrationMs));
    return register(handlers);
  };
  return store;
}

/** Returns what both kinds of stores do over the connections of one process. */
function connect(world, database) {
  const { transactions } = database;
  const process = world.current;

  const statement = async (tx, label, effect) => {
    try {
      return await world.io("store", `#${tx.number} ${label}`, (fault) => {
        // After a broken connection the database rolls back.
        if (!tx.isOpen) throw Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
        const result = effect();
        if (fault) transactions.end(tx);
        return result;
      });
    } catch (error) {
      tx.isPoisoned = true;
      throw error;
    }
  };
  const read = (label, effect) => world.io("store", label, effect);

  async function transaction(run, onCommit = () => {}) {
    const tx = transactions.begin(process);
    tx.write = (row) => {
      tx.isOfHandler = true;
      return statement(tx, "write", () => void tx.rows.push(row));
    };
    try {
      const result = await run(tx);
      await hang(tx);
      if (tx.isPoisoned) throw new Error("the transaction is poisoned");
      await world.io("commit", `#${tx.number} commit`, () => {
        if (!tx.isOpen) throw new Error("the connection was lost");
        const hasEvents = tx.events.size > 0;
        database.commit(tx);
        if (hasEvents) onCommit();
      });
      return result;
    } catch (error) {
      await hang(tx);
      // The database rolls back where the connection broke, and where this arrives.
      await world.io("rollback", `#${tx.number} rollback`, () => transactions.end(tx));
      throw error;
    }
  }

  /** A handler's transaction whose connection died may never end. The database notices this after a while. */
  async function hang(tx) {
    if (!tx.isOfHandler || tx.isHanging || !world.faults.take("hang", process, world)) return;
    tx.isHanging = true;
    process.hasHanging = true;
    world.note(`#${tx.number} hangs`);
    world.setTimer(() => transactions.end(tx), 2000);
    await new Promise(() => {});
  }

  return { process, statement, read, transaction };
}

/** Returns an adapter over the records of the database: with transactions, or with writes that are all or nothing. */
function createAdapter(world, database, { statement, read, transaction }, { durable, over }) {
  const { records, transactions } = database;
  const { hasTransactions, hasClock, maxChanges } = over;

  function expectWritable(changes) {
    if (changes.length > (maxChanges ?? Infinity)) throw new Error(`${changes.length} changes are too many`);
    for (const { key, value } of changes)
      if (value !== null && key.startsWith("webhooks/"))
        database.expectTaken(Buffer.from(JSON.parse(value).rawBody, "base64"));
  }
  function isExpected(changes) {
    const isFirst = records.isExpected(changes);
    if (!isFirst && world.ioShare < 1) world.isStarved = true;
    return isFirst;
  }
  const ask = (tx, label, effect) =>
    hasTransactions && tx ? statement(tx, label, effect) : read(label, effect);
  const adapter = {
    durable,
    maxChanges,
    ...(hasClock && { now: () => read("now", () => world.clock()) }),
    read: (keys, tx) => ask(tx, "read", () => records.read(keys)),
    scan: (range, tx) =>
      ask(tx, `scan ${range.from}`, () => {
        if (/^(stray|undecided)\//.test(range.from)) database.expectSweep();
        return records.scan(range);
      }),
  };
  if (!hasTransactions)
    return {
      ...adapter,
      write: (changes, items) =>
        world.io("commit", `write ${changes.length}`, () => {
          expectWritable(changes);
          if (!isExpected(changes)) return false;
          records.commit(changes);
          database.rows.push(...items);
          return true;
        }),
    };
  return {
    ...adapter,
    transaction,
    write: (changes, tx) =>
      statement(tx, `write ${changes.length}`, () => {
        const keys = changes.map(({ key }) => `record ${key}`);
        if (transactions.lock(tx, keys) === blocked) return blocked;
        expectWritable(changes);
        if (!isExpected(changes)) return false;
        tx.changes.push(...changes);
        return true;
      }),
  };
}

/** Returns the simulated store: the contract of `PaymentStore` over the tables of the database. */
function createTables(world, database, connection, features, { runLazily, TillkitError }) {
  const { process, statement, read } = connection;
  const listeners = (database.listeners ??= new Map());
  const wakeOthers = () => {
    for (const [listener, owner] of listeners)
      if (owner !== process && owner.isAlive) world.as(owner, () => world.post("wake", listener));
  };

  const transaction = (run) => connection.transaction(run, wakeOthers);

  const store = {
    durable: features.durable,
    maxGroup: Infinity,
    transaction,
    runHandler: (run, finish) =>
      features.lazy ? runLazily({ transaction, lateTx }, run, finish) : runEagerly(transaction, run, finish),
    find: (clientId) => read("find", () => database.find(clientId)),
    lock: (tx, keys) => statement(tx, "lock", () => database.lock(tx, keys)),
    save: (tx, changes) => statement(tx, "save", () => database.save(tx, changes)),
    settle: (tx, settlement) =>
      statement(tx, `settle ${settlement.handler} ${settlement.state}`, () =>
        database.settle(tx, settlement),
      ),
    registerHandlers: (handlers) => read("register handlers", () => database.register(handlers)),
    claim: (options) => read("claim", () => database.claim(options)),
    rematchable: (tx, clientIds) => statement(tx, "rematchable", () => database.rematchable(tx, clientIds)),
    stray: (tx, options) => statement(tx, "stray", () => database.stray(tx, options)),
    renew: (run, leaseMs) => read(`renew ${run.handler}`, () => database.renew(run, leaseMs)),
    due: (page) => read("due", () => database.due(page)),
    list: (page) => read("list", () => database.newest(page)),
    lookupDue: (page) => read("lookup due", () => database.lookupDue(page)),
    record: (keys, decide) => record(store, keys, decide),
    findMany: (keys) => read("find many", () => database.findMany(keys)),
    webhooks: (page) => read("webhooks", () => database.webhooksPage(page)),
    history: (clientId) => read("history", () => database.history(clientId)),
    counts: () => read("counts", () => database.counts()),
    notes: () => read("notes", () => []),
    identify: (newId) =>
      read("identify", () => (database.identity ??= newId)).catch((error) => {
        throw new TillkitError("store_unavailable", error.message);
      }),
    migrate: () => Promise.resolve(),
    warnings: () => Promise.resolve([]),
    close: () => Promise.resolve(),
    // No process of the explorer calls these.
    revived: notSimulated,
    handlers: notSimulated,
    dead: notSimulated,
    prune: notSimulated,
    retire: notSimulated,
  };
  if (features.shared)
    store.runShared = (work) => runShared(world, database, connection, { transaction, TillkitError }, work);
  if (features.wake)
    store.wake = (listener) => {
      listeners.set(listener, process);
      return () => listeners.delete(listener);
    };
  return store;
}

async function record(store, keys, decide) {
  const taken = new Error("a webhook is taken");
  try {
    await store.transaction(async (tx) => {
      const { takenEventKeys } = await store.save(tx, decide(await store.lock(tx, keys)));
      if (takenEventKeys.length > 0) throw taken;
    });
    return true;
  } catch (error) {
    if (error === taken) return false;
    throw error;
  }
}

/** Runs `work` in one transaction, whose parts are rolled back alone where they fail, and settles what is done at its end. */
async function runShared(world, database, { statement }, { transaction, TillkitError }, work) {
  const { transactions } = database;
  await transaction(async (tx) => {
    const done = await work((run) => runPart(world, transactions, tx, run));
    const settleAll = () => {
      for (const run of done) {
        const isSettled = database.settle(tx, { ...run, state: "done" });
        if (isSettled !== true) return isSettled;
      }
      return true;
    };
    if (!(await statement(tx, `settle ${done.length} runs as done`, settleAll)))
      throw new TillkitError("lease_lost", "a lease was lost");
  });
}

async function runPart(world, transactions, tx, run) {
  if (tx.isPoisoned || !tx.isOpen) throw new Error("the transaction is broken");
  const kept = tx.rows.length;
  let [isOver, isFailed, sent] = [false, false, 0];
  const write = async (row) => {
    if (isOver) throw new Error("the part has ended");
    tx.isOfHandler = true;
    sent += 1;
    try {
      await world.io("store", `#${tx.number} write in a part`, (fault) => {
        if (!tx.isOpen) throw Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
        tx.rows.push(row);
        if (fault) transactions.end(tx);
      });
    } catch (error) {
      isFailed = true;
      throw error;
    } finally {
      sent -= 1;
    }
  };
  try {
    await run({ write });
    if (isFailed) throw new Error("a statement of the part has failed");
  } catch (error) {
    isOver = true;
    try {
      if (sent > 0) throw error;
      await world.io("rollback", `#${tx.number} rollback to the savepoint`, () => {
        if (!tx.isOpen) throw error;
        tx.rows.length = kept;
      });
    } catch {
      tx.isPoisoned = true;
      transactions.end(tx);
    }
    throw error;
  }
  isOver = true;
}

async function runEagerly(transaction, run, finish) {
  return transaction(async (tx) => {
    await run(tx);
    await finish(tx);
  });
}

function notSimulated() {
  throw new Error("The explorer's store does not simulate this member.");
}

function lateTx(open) {
  let opened;
  return {
    async write(row) {
      opened ??= open();
      await (await opened).write(row);
    },
  };
}
