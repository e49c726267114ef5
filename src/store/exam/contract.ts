import { type PaymentStore, type StoreTiers } from "../payment-store.js";

/** The line of the contract for each member that every store has. The doc comments of {@link PaymentStore} say all of it. */
export const promises: Readonly<Partial<Record<keyof PaymentStore, string>>> = {
  transaction:
    "Commits durably when `run` resolves and rolls back when it rejects; one payment, one at a time.",
  save: "Writes all changes or none; a clash in `created` or `webhooks` is reported, any other one rejects.",
  lock: "Locks the named payments and all others of their references, in clientId order.",
  registerHandlers: "Stores handlers that are new; they start with the events that are saved after that.",
  claim: "Gives each event one dispatch for each handler, and leases what is due to one caller only.",
  settle: "Ends a run inside of `tx`; returns `false` and changes nothing if its fence is not the newest.",
};

/** What the kit does without a member that may be left out. */
export const withoutMember: Readonly<Record<keyof StoreTiers | "reports", string>> = {
  reports:
    "A payment does not show what the service said, nor a resolution its evidence; no search by providerId.",
  parked: "An unmatched webhook stays unmatched when its payment appears.",
  stray: "`payment.unmatched` is raised immediately, with no grace period.",
  renew: "A handler must finish within one lease.",
  due: "No `payment.overdue`.",
  lookupDue: "The service is asked only about payments whose browser comes back.",
  record: "Webhooks are recorded with a round trip for each step.",
  maxGroup: "Up to 100 webhooks are recorded in one transaction.",
  lazy: "A handler's transaction is open from its start.",
  wake: "Events of other processes are found by polling.",
  list: "No `payments.list`, and a statement is not checked for payments that it lacks.",
  findMany: "Rows of a statement are looked up under short locks.",
  history: "No `payments.history`, and nothing can be resolved.",
  webhooks: "No replay of webhooks, and no mismatch can be accepted.",
  dead: "No replay of dead dispatches.",
  counts: "`payments.health()` tells less.",
  prune: "`payments.prune()` deletes nothing.",
  backup: "No `payments.backup`.",
  retire: "No `payments.retireHandler`.",
  migrate: "You make the tables.",
  close: "You close the connections.",
  warnings: "Nothing is said about durability and small pools.",
  spoolDirectory: "There is no spool unless the `spool` option names a directory.",
};

/** Members without which work is lost or late. The kit warns at the start if a store has none of its own. */
export const importantMembers = ["parked", "renew", "due"] as const;
