// Planted defects: each breaks one promise of the store or the kit, and the harness must find it.
const { recordInSteps } = require("../../processes/record-in-steps.cjs");

/** Returns a store with one defect. */
function withDefect(name, store, dispatchesTable) {
  const wrapped = Object.assign(Object.create(store), bound(store));
  const defect = defects[name];
  if (defect) Object.assign(wrapped, { record: recordInSteps }, defect(store, dispatchesTable));
  return wrapped;
}

/** Returns the methods of a store, bound to it. */
function bound(store) {
  const names = [...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))];
  const methods = names.filter((name) => name !== "constructor" && typeof store[name] === "function");
  return { durable: true, ...Object.fromEntries(methods.map((name) => [name, store[name].bind(store)])) };
}

const defects = {
  /** Marks the dispatch as done in a transaction of its own, before the handler runs. */
  "done-outside-tx": (store) => ({
    async claim(options) {
      const claims = await store.claim(options);
      for (const { event, handler, fence } of claims) {
        const settlement = { eventId: event.id, handler, fence, state: "done" };
        await store.transaction((tx) => store.settle(tx, settlement));
      }
      return claims;
    },
    settle: (tx, settlement) =>
      settlement.state === "done" ? Promise.resolve(true) : store.settle(tx, settlement),
    renew: () => Promise.resolve(true),
  }),

  /** Any claimer may settle, at any time. */
  "no-fence": (store, dispatches) => ({
    async settle(tx, settlement) {
      const { eventId, handler } = settlement;
      const mark = tx.dialect === "postgres" ? ["$1", "$2"] : ["?", "?"];
      const { rows } = await tx.query(
        `select fence from ${dispatches} where event_id = ${mark[0]} and handler = ${mark[1]}`,
        [eventId, handler],
      );
      await store.settle(tx, { ...settlement, fence: Number(rows[0].fence) });
      return true;
    },
    renew: () => Promise.resolve(true),
  }),

  /** Every arrival is a new event, and completed is not final. */
  "no-dedupe": (store) => ({
    async lock(tx, keys) {
      const { payments } = await store.lock(tx, keys);
      const reopened = payments.map((payment) => ({ ...payment, state: "pending", status: "pending" }));
      return { payments: reopened, eventKeys: [] };
    },
    save(tx, changes) {
      const webhooks = changes.webhooks?.map((webhook) => ({ ...webhook, eventKey: webhook.receiptId }));
      return store.save(tx, { ...changes, ...(webhooks && { webhooks }) });
    },
  }),

  /** Forgets the events of every fourth save. */
  "lost-events": (store) => {
    let saves = 0;
    return {
      save: (tx, changes) => store.save(tx, ++saves % 4 === 0 ? { ...changes, events: [] } : changes),
    };
  },
};

/** Returns the kit for the router. With one defect it answers before it records. */
function answeringEarly(payments) {
  return {
    ...payments,
    receiveWebhook(request) {
      payments.receiveWebhook(request).catch(() => {});
      return Promise.resolve({ receiptId: "none", outcome: "applied" });
    },
  };
}

module.exports = { withDefect, answeringEarly };
