import { type SqlPaymentStore } from "tillkit/sql";
import { but, type Defect } from "./defective-stores.js";

/** The wrong members of defective stores, each with the check that must find it. */
const readers: [
  does: string,
  replaced: (store: SqlPaymentStore) => Partial<SqlPaymentStore>,
  caughtBy: string,
][] = [
  [
    "has an identity of its own in each process",
    () => ({ identify: async (id) => id }),
    "identify returns one id, and keeps it, for every process",
  ],
  [
    "counts no dead dispatches",
    (store) => ({ counts: async (options) => ({ ...(await store.counts(options)), dead: 0 }) }),
    "counts returns what waits: parked webhooks, dead dispatches, the oldest undone event",
  ],
  [
    "counts the events of excepted handlers",
    (store) => ({ counts: ({ except: _, ...options } = {}) => store.counts(options) }),
    "counts leaves the events out for which only excepted handlers wait",
  ],
  [
    "counts nothing dead of a handler",
    (store) => ({ handlers: async () => (await store.handlers()).map((one) => ({ ...one, dead: 0 })) }),
    "handlers returns each name with its events, and counts what waits and what is dead",
  ],
  [
    "starts every page of a history at the newest records",
    (store) => ({ history: (clientId, { before: _, ...page } = {}) => store.history(clientId, page) }),
    "history is read in pages, the newest first, each record once, also where others come meanwhile",
  ],
  [
    "starts every page of webhooks at the oldest",
    (store) => ({ webhooks: ({ after: _, ...page }) => store.webhooks(page) }),
    "stored webhooks are read in pages, by any condition, with their bytes",
  ],
  [
    "fills a page with the webhooks that have bytes before the pruned ones",
    (store) => ({
      webhooks: async (page) => {
        const all = await store.webhooks({ ...page, limit: 100 });
        const [kept, pruned] = [true, false].map((has) =>
          all.filter((one) => one.rawBody.length > 0 === has),
        );
        const chosen = [...kept!, ...pruned!].slice(0, page.limit);
        return all.filter((one) => chosen.includes(one));
      },
    }),
    "stored webhooks have one order, whether their bytes were pruned or not",
  ],
  [
    "starts again after a webhook whose bytes were pruned",
    (store) => ({
      webhooks: async ({ after, ...page }) => {
        const [last] = after ? await store.webhooks({ limit: 1, receiptId: after.receiptId }) : [];
        return store.webhooks({ ...page, ...(last && last.rawBody.length > 0 && { after }) });
      },
    }),
    "stored webhooks have one order, whether their bytes were pruned or not",
  ],
  [
    "returns webhooks that a person has settled",
    (store) => ({
      webhooks: ({ need, ...page }) =>
        store.webhooks({ ...page, ...(need === "mismatched" ? { outcome: "mismatch" } : need && { need }) }),
    }),
    "webhooks by need returns those that no person has resolved, with the number of their copies",
  ],
  [
    "lists payments that nobody has to see",
    (store) => ({ list: ({ need: _, ...page }) => store.list(page) }),
    "list by need follows what changes in a payment",
  ],
  [
    "lists payments whatever their time is",
    (store) => ({ list: ({ from: _, to: __, ...page }) => store.list(page) }),
    "list returns the payments that match every condition, in either order",
  ],
  [
    "finds dead dispatches of any time",
    (store) => ({ dead: ({ since: _, ...page }) => store.dead(page) }),
    "dead finds dispatches by a part of their error and by their time, and none that its run has revived",
  ],
  [
    "starts every page of revived dispatches at the first",
    (store) => ({ revived: ({ after: _, ...page }) => store.revived(page) }),
    "a revived dispatch keeps how it had ended before, and is found by the id of its run",
  ],
  [
    "prunes more than its limit",
    (store) => ({ prune: ({ limit, ...page }) => store.prune({ ...page, limit: limit + 1 }) }),
    "one call of prune deletes no more than its limit",
  ],
  [
    "prunes what is younger, too",
    (store) => ({ prune: (page) => store.prune({ ...page, before: "2099-01-01T00:00:00.000Z" }) }),
    "prune deletes events before the given time, and none after it",
  ],
  [
    "retires more than its limit",
    (store) => ({ retire: (options) => store.retire({ ...options, limit: 100 }) }),
    "retire ends what is not done of one name, in steps, and its runs cannot commit",
  ],
  [
    "retires every registration of a name",
    (store) => ({ retire: ({ event: _, ...options }) => store.retire(options) }),
    "retire of one event leaves what the name is registered for otherwise",
  ],
  [
    "leaves foreign webhooks out of those that may match",
    (store) => ({
      rematchable: async (tx, clientIds) =>
        (await store.rematchable(tx, clientIds)).filter(({ outcome }) => outcome !== "foreign"),
    }),
    "parked webhooks are found by clientId, oldest first, with their exact bytes",
  ],
  [
    "returns the notes of every id",
    (store) => ({ notes: ({ ids: _, ...options }) => store.notes(options) }),
    "notes returns what save wrote, by kind and id, each with its version",
  ],
  [
    "claims more than its limit",
    (store) => ({ claim: (options) => store.claim({ ...options, limit: options.limit + 1 }) }),
    "a claim takes no more than its limit, oldest events first",
  ],
];

export const defectiveReaders: Defect[] = readers.map(([does, replaced, caughtBy]) => ({
  does,
  spoil: (store) => but(store, replaced(store)),
  caughtBy: [caughtBy],
}));
