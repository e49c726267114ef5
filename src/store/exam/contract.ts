import { type PaymentStore } from "../contract.js";

/** The facts that stay unknown if the exam lacks a part, as a sentence for each part. */
export const without = {
  adapter: "The store was not made by storeOver.",
  refused: "It is not known whether a write of yours that the database refuses fails its run.",
  cut: "It is not known what is left of a transaction whose connection is lost.",
  probe: "It is not known whether your own writes commit, and are rolled back, with the kit's.",
};

/** A line of the contract for some members. The whole contract is in the comments of {@link PaymentStore}. */
export const promises: Readonly<Partial<Record<keyof PaymentStore, string>>> = {
  transaction:
    "Commits durably when `run` resolves and rolls back when it rejects; one payment, one at a time.",
  save: "Writes all changes or none; a clash in `created` or `webhooks` is reported, any other one rejects.",
  lock: "Locks the named payments and all others of their references, in clientId order.",
  registerHandlers: "Stores handlers that are new; they start with the events that are saved after that.",
  claim: "Gives each event one dispatch for each handler, and leases what is due to one caller only.",
  settle: "Ends a run inside of `tx`; returns `false` and changes nothing if its fence is not the newest.",
};
