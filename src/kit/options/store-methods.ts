import { type PaymentStore } from "../../store/contract.js";

type OptionalMember = "runShared" | "wake" | "backup" | "spoolDirectory";
type StoreMethod = Exclude<keyof PaymentStore, "durable" | "maxGroup" | OptionalMember>;

/** The methods of every store. The compiler reports a method that is missing here. */
export const storeMethods = Object.keys({
  transaction: 1,
  runHandler: 1,
  find: 1,
  lock: 1,
  save: 1,
  registerHandlers: 1,
  claim: 1,
  settle: 1,
  rematchable: 1,
  stray: 1,
  renew: 1,
  due: 1,
  lookupDue: 1,
  record: 1,
  list: 1,
  findMany: 1,
  history: 1,
  webhooks: 1,
  dead: 1,
  revived: 1,
  counts: 1,
  handlers: 1,
  notes: 1,
  prune: 1,
  retire: 1,
  migrate: 1,
  identify: 1,
  close: 1,
  warnings: 1,
} satisfies Record<StoreMethod, 1>) as StoreMethod[];
