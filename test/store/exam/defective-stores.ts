import { type Claim, type HandlerKey, type Settlement } from "../../../src/store/contract.js";
import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";

/** A defect of a store, and the checks of the exam that must fail with it. */
export interface Defect {
  does: string;
  spoil: (store: SqlPaymentStore) => SqlPaymentStore;
  caughtBy: string[];
}

/** Returns the store with some members replaced. */
export function but(store: SqlPaymentStore, replaced: Partial<SqlPaymentStore>): SqlPaymentStore {
  return new Proxy(store, {
    get: (_, name) => {
      const member: unknown = Reflect.get(name in replaced ? replaced : store, name);
      return typeof member === "function" ? (member.bind(store) as unknown) : member;
    },
  });
}

export const defects: Defect[] = [
  {
    does: "looks for an open payment first, and reports none that another process opens meanwhile",
    spoil: (store) =>
      but(store, {
        save: async (tx, changes) => {
          const created = changes.created ?? [];
          const { payments } = await store.lock(tx, {
            references: created.map(({ reference }) => reference),
          });
          const { takenClientIds, ...saved } = await store.save(tx, changes);
          const seen = takenClientIds.filter(
            () => payments.length === 0 || payments.some(({ open }) => open),
          );
          return { ...saved, takenClientIds: payments.length > 0 ? [] : seen };
        },
      }),
    caughtBy: [
      "of two first openings of one reference at the same time, one is stored and the other reported",
    ],
  },
  {
    does: "makes its tables without regard to another process",
    spoil: (store) => {
      let tables = 0;
      return but(store, {
        migrate: async () => {
          await new Promise(setImmediate);
          if (++tables > 1) throw new Error("table payments already exists");
        },
      });
    },
    caughtBy: ["migrate makes the tables once, when several processes call it at the same time and again"],
  },
  {
    does: "prunes the bytes of a mismatch that nobody has settled",
    spoil: (store) =>
      but(store, {
        prune: async (options) => {
          const { webhooks, ...pruned } = await store.prune(options);
          const waiting = await store.webhooks({ outcome: "mismatch", limit: 10 });
          return { ...pruned, webhooks: webhooks + waiting.length };
        },
      }),
    caughtBy: ["prune keeps the bytes of what a person must settle until somebody has settled it"],
  },
  {
    does: "finds many payments without their siblings",
    spoil: (store) =>
      but(store, {
        findMany: async (keys) =>
          (await store.findMany(keys)).filter(({ clientId }) => keys.clientIds?.includes(clientId)),
      }),
    caughtBy: ["findMany returns the payments that any key names, with their siblings, each once"],
  },
  {
    does: "registers a retired name again immediately",
    spoil: (store) =>
      but(store, {
        retire: async (options) => {
          const handlers = await store.transaction((tx) =>
            tx.query<HandlerKey>("select event, name from tillkit_handlers"),
          );
          const retired = await store.retire(options);
          await store.registerHandlers(handlers.rows);
          return retired;
        },
      }),
    caughtBy: ["a retired name gets no events until it is registered again, and its dispatches are final"],
  },
  {
    does: "returns true for a group that was not recorded",
    spoil: (store) =>
      but(store, {
        record: async (keys, decide) => (await store.record(keys, decide)) || true,
      }),
    caughtBy: ["record stores nothing and returns false where a webhook is taken"],
  },
  {
    does: "commits one decision in several transactions",
    spoil: (store) =>
      but(store, {
        record: async (keys, decide) => {
          const locked = await store.transaction((tx) => store.lock(tx, keys));
          const { webhooks = [], ...others } = decide(locked);
          await store.transaction((tx) => store.save(tx, others));
          const { takenEventKeys } = await store.transaction((tx) => store.save(tx, { webhooks }));
          return takenEventKeys.length === 0;
        },
      }),
    caughtBy: [
      "record stores nothing and returns false where a webhook is taken",
      "calls of record that lock the same payment run one after the other",
    ],
  },
  {
    does: "takes every copy of a webhook for a new one",
    spoil: (store) =>
      but(store, {
        save: async (tx, changes) => ({ ...(await store.save(tx, changes)), takenEventKeys: [] }),
      }),
    caughtBy: [
      "an eventKey is stored once; the clash is reported and its neighbours are stored",
      "of a hundred concurrent copies one is stored, and every other one is reported",
      "two copies in one call store one",
    ],
  },
  {
    does: "opens a second attempt of a reference",
    spoil: (store) =>
      but(store, {
        save: async (tx, changes) => ({ ...(await store.save(tx, changes)), takenClientIds: [] }),
      }),
    caughtBy: [
      "a reference has one open payment, and any number that are not open",
      "of two open payments of one reference in one call, one is stored",
    ],
  },
  {
    does: "binds one service id to two payments",
    spoil: (store) =>
      but(store, {
        save: (tx, changes) =>
          store.save(tx, {
            ...changes,
            ...(changes.created && { created: changes.created.map(({ serviceId: _, ...rest }) => rest) }),
          }),
      }),
    caughtBy: ["a service id bound to a second payment rejects, and leaves nothing behind"],
  },
  {
    does: "compares ids without regard to case",
    spoil: (store) =>
      but(store, {
        save: (tx, changes) =>
          store.save(tx, {
            ...changes,
            ...(changes.webhooks && {
              webhooks: changes.webhooks.map((one) => ({ ...one, eventKey: one.eventKey.toLowerCase() })),
            }),
          }),
      }),
    caughtBy: ["ids that differ in case, accents, normal form or trailing space are different"],
  },
  {
    does: "keeps the raw body as text",
    spoil: (store) =>
      but(store, {
        rematchable: async (tx, clientIds) =>
          (await store.rematchable(tx, clientIds)).map((one) => ({
            ...one,
            rawBody: Buffer.from(String(one.rawBody)),
          })),
      }),
    caughtBy: ["parked webhooks are found by clientId, oldest first, with their exact bytes"],
  },
  {
    does: "settles whatever the fence is",
    spoil: (store) =>
      but(store, {
        settle: async (tx, settlement) =>
          store.settle(tx, { ...settlement, fence: await newestFence(tx, settlement) }),
      }),
    caughtBy: ["an old fence settles nothing"],
  },
  {
    does: "settles outside of the handler's transaction",
    spoil: settlesOutside,
    caughtBy: ["a settlement is rolled back with its transaction"],
  },
  {
    does: "keeps webhooks of a transaction that was rolled back",
    spoil: keepsWebhooks,
    caughtBy: ["a webhook that is rolled back is not stored, and can be saved again"],
  },
  {
    does: "reads without locking",
    spoil: readsWithoutLocking,
    caughtBy: [
      "concurrent changes of one payment lose nothing",
      "a transaction that locks a payment and writes something else runs before or after one that changes it, or as if it did",
    ],
  },
  {
    does: "does not store the handlers that it registers",
    spoil: (store) => but(store, { registerHandlers: () => Promise.resolve() }),
    caughtBy: ["a new handler starts with the events that are saved after it was registered"],
  },
  {
    does: "stores a handler twice that two processes register at the same time",
    spoil: (store) => {
      const names: string[] = [];
      return but(store, {
        registerHandlers: async (handlers) => {
          const known = new Set(names);
          await store.registerHandlers(handlers);
          names.push(...handlers.map(({ name }) => name).filter((name) => !known.has(name)));
        },
        handlers: async () =>
          (await store.handlers()).flatMap((one) => names.filter((name) => name === one.name).map(() => one)),
      });
    },
    caughtBy: ["handlers that several processes register at the same time are all listed, each once"],
  },
  {
    does: "loses a handler that another process registers at the same time",
    spoil: (store) => {
      let running = 0;
      return but(store, {
        registerHandlers: async (handlers) => {
          running += 1;
          await store.registerHandlers(running > 1 ? handlers.slice(0, 1) : handlers);
          running -= 1;
        },
      });
    },
    caughtBy: ["handlers that several processes register at the same time are all listed, each once"],
  },
  {
    does: "gives a handler that it has forgotten no events of the time since",
    spoil: (store) =>
      but(store, {
        registerHandlers: (handlers) =>
          store.registerHandlers(handlers.map(({ event, name }) => ({ event, name }))),
      }),
    caughtBy: ["a handler that the store has forgotten gets the events since its first registration, once"],
  },
  {
    does: "registers the handlers of a claim",
    spoil: (store) =>
      but(store, {
        claim: async (options) => {
          await store.registerHandlers(options.handlers);
          return store.claim(options);
        },
      }),
    caughtBy: ["a claim for a handler that was never registered returns nothing and registers nothing"],
  },
  {
    does: "returns a claim twice",
    spoil: (store) => {
      const given = new Map<string, Claim>();
      return but(store, {
        claim: async (options) => {
          const claims = await store.claim(options);
          const again = options.limit > 0 ? [...given.values()] : [];
          for (const claim of claims) given.set(`${claim.event.id} ${claim.handler}`, claim);
          return [...again, ...claims];
        },
      });
    },
    caughtBy: [
      "a claimed dispatch is not claimed again while its lease lasts",
      "many concurrent claimers share the events without overlap",
      "claimers that race events being saved miss none and take none twice",
      "a dispatch that is done is never claimed again",
    ],
  },
  {
    does: "gives leases that have ended already",
    spoil: (store) => but(store, { claim: (options) => store.claim({ ...options, leaseMs: 0 }) }),
    caughtBy: ["a lease does not end early", "a claimed dispatch is not claimed again while its lease lasts"],
  },
  {
    does: "gives leases that never end",
    spoil: (store) => but(store, { claim: (options) => store.claim({ ...options, leaseMs: 3_600_000 }) }),
    caughtBy: ["a lease that ended is taken over, with the next fence and attempt and no failure"],
  },
  {
    does: "takes what is due later than the claimer's own lease for a mistake of a clock",
    spoil: (store) =>
      but(store, {
        claim: async (options) => {
          await store.transaction((tx) =>
            tx.query(
              `update tillkit_dispatches set due_at = 0
                where due_at > cast(unixepoch('subsec') * 1000 as integer) + ?`,
              [options.leaseMs],
            ),
          );
          return store.claim(options);
        },
      }),
    caughtBy: [
      "a lease and a wait last as long as their own process has set, whatever lease the next claimer asks for",
    ],
  },
  {
    does: "renews a lease that was taken over",
    spoil: (store) => but(store, { renew: () => Promise.resolve(true) }),
    caughtBy: ["a lease that was taken over, settled or never given cannot be renewed"],
  },
  {
    does: "runs a failed handler again without waiting",
    spoil: (store) =>
      but(store, { settle: (tx, settlement) => store.settle(tx, { ...settlement, retryInMs: 0 }) }),
    caughtBy: ["a failed dispatch is claimed again after its wait, with one failure more"],
  },
  {
    does: "does not store that a waiting webhook was raised",
    spoil: (store) => but(store, { save: (tx, { raised: _, ...changes }) => store.save(tx, changes) }),
    caughtBy: [
      "a webhook that was raised, dismissed or decided is no longer stray",
      "concurrent sweeps never get the same stray webhook",
    ],
  },
  {
    does: "returns lookups that are not due",
    spoil: (store) =>
      but(store, {
        lookupDue: ({ limit }) => store.lookupDue({ before: "2099-01-01T00:00:00.000Z", limit }),
      }),
    caughtBy: ["lookupDue returns the payments whose time has come, earliest first"],
  },
  {
    does: "starts every page of a list at the beginning",
    spoil: (store) => but(store, { list: ({ after: _, ...page }) => store.list(page) }),
    caughtBy: ["list pages through all payments once, also while payments are added"],
  },
  {
    does: "does not keep what the service said",
    spoil: (store) =>
      but(store, {
        save: (tx, changes) =>
          store.save(tx, {
            ...changes,
            ...(changes.created && {
              created: changes.created.map(({ reported: _, service: __, ...payment }) => payment),
            }),
          }),
      }),
    caughtBy: ["what the service said stays with the payment, and is replaced as a whole"],
  },
  {
    does: "does not keep that the service denied something in a later report",
    spoil: (store) =>
      but(store, {
        save: (tx, changes) =>
          store.save(tx, {
            ...changes,
            ...(changes.updated && {
              updated: changes.updated.map(({ reported, ...payment }) => ({
                ...payment,
                ...(reported?.captured !== false && { reported }),
              })),
            }),
          }),
      }),
    caughtBy: ["what the service said stays with the payment, and is replaced as a whole"],
  },
  {
    does: "lists payments whatever their providerId is",
    spoil: (store) => but(store, { list: ({ providerId: _, ...page }) => store.list(page) }),
    caughtBy: ["list selects by the providerId, which several payments can have"],
  },
  {
    does: "returns dead dispatches newest first",
    spoil: (store) =>
      but(store, {
        dead: async ({ limit, ...options }) =>
          (await store.dead({ ...options, limit: 1000 })).toReversed().slice(0, limit),
      }),
    caughtBy: ["dead dispatches are found by any condition, and revived only on request"],
  },
  {
    does: "revives dead dispatches that it should only return",
    spoil: (store) => but(store, { dead: (options) => store.dead({ ...options, revive: true }) }),
    caughtBy: ["dead dispatches are found by any condition, and revived only on request"],
  },
  {
    does: "keeps a resolution twice",
    spoil: (store) =>
      but(store, {
        save: (tx, changes) =>
          store.save(tx, {
            ...changes,
            ...(changes.resolutions && {
              resolutions: changes.resolutions.map((one) => ({ ...one, id: `${one.id}${Math.random()}` })),
            }),
          }),
      }),
    caughtBy: ["a resolution is stored once; a second one rejects, with everything that it came with"],
  },
  {
    does: "starts every page of due payments at the beginning",
    spoil: (store) => but(store, { due: ({ before, limit }) => store.due({ before, limit: limit * 10 }) }),
    caughtBy: ["due pages through all payments in (createdAt, clientId) order, each payment once"],
  },
];

async function newestFence(tx: SqlTx, { eventId, handler }: Settlement): Promise<number> {
  const sql = "select fence from tillkit_dispatches where event_id = ? and handler = ?";
  const { rows } = await tx.query<{ fence: number }>(sql, [eventId, handler]);
  return rows[0]?.fence ?? 0;
}

function settlesOutside(store: SqlPaymentStore): SqlPaymentStore {
  const settled: Settlement[] = [];
  return but(store, {
    settle: (tx, settlement) => {
      settled.push(settlement);
      return store.settle(tx, settlement);
    },
    transaction: async (run) => {
      try {
        return await store.transaction(run);
      } finally {
        for (const settlement of settled.splice(0))
          await store.transaction((tx) => store.settle(tx, settlement));
      }
    },
  });
}

function keepsWebhooks(store: SqlPaymentStore): SqlPaymentStore {
  const kept: Parameters<SqlPaymentStore["save"]>[1][] = [];
  return but(store, {
    save: (tx, changes) => {
      kept.push({ webhooks: changes.webhooks ?? [] });
      return store.save(tx, changes);
    },
    transaction: async (run) => {
      try {
        return await store.transaction(run);
      } finally {
        for (const changes of kept.splice(0)) await store.transaction((tx) => store.save(tx, changes));
      }
    },
  });
}

/** A `tx` that has no transaction. */
const outsideOfTransactions = {
  opened: () => Promise.reject(new Error("there is no transaction")),
} as never;

/** Runs every call in a transaction of its own, as a pool without BEGIN does. */
function readsWithoutLocking(store: SqlPaymentStore): SqlPaymentStore {
  return but(store, {
    transaction: (run) => run(outsideOfTransactions),
    lock: (_, keys) => store.transaction((tx) => store.lock(tx, keys)),
    save: (_, changes) => store.transaction((tx) => store.save(tx, changes)),
  });
}
