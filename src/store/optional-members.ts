import { type StoreTiers } from "./payment-store.js";

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
  identify: "The spool is tied to no store, and a replaced database is noticed later.",
  close: "You close the connections.",
  warnings: "Nothing is said about durability and small pools.",
  spoolDirectory: "There is no spool unless the `spool` option names a directory.",
};

/** Members without which work is lost or late. The kit warns at the start if a store has none of its own. */
export const importantMembers = ["parked", "renew", "due"] as const;
