/** How the stores of one run work, as the seed chose. */
export function storeFeatures(random) {
  return {
    lazy: random.chance(0.7),
    wake: random.chance(0.5),
    durable: random.chance(0.5),
  };
}

/** Returns the store of one process: the contract of `PaymentStore` over connections to the simulated database. */
export function createStore(world, database, features, runLazily) {
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

  async function transaction(run) {
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
        if (hasEvents) wakeOthers();
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
    world.note(`#${tx.number} hangs`);
    world.setTimer(() => transactions.end(tx), 2000);
    await new Promise(() => {});
  }

  const listeners = (database.listeners ??= new Map());
  const wakeOthers = () => {
    for (const [listener, owner] of listeners)
      if (owner !== process && owner.isAlive) world.as(owner, () => world.post("wake", listener));
  };

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
    parked: (tx, clientIds) => statement(tx, "parked", () => database.parked(tx, clientIds)),
    stray: (tx, options) => statement(tx, "stray", () => database.stray(tx, options)),
    renew: (run, leaseMs) => read(`renew ${run.handler}`, () => database.renew(run, leaseMs)),
    due: (page) => read("due", () => database.due(page)),
    lookupDue: (page) => read("lookup due", () => database.lookupDue(page)),
    record: (keys, decide) => record(store, keys, decide),
    findMany: (keys) => read("find many", () => database.findMany(keys)),
    webhooks: (page) => read("webhooks", () => database.webhooksPage(page)),
    history: (clientId) => read("history", () => database.history(clientId)),
    counts: () => read("counts", () => database.counts()),
    identify: (newId) => read("identify", () => (database.identity ??= newId)),
    migrate: () => Promise.resolve(),
    warnings: () => Promise.resolve([]),
    close: () => Promise.resolve(),
    // No process of the explorer calls these.
    list: notSimulated,
    dead: notSimulated,
    prune: notSimulated,
    retire: notSimulated,
  };
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
