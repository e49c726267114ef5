import { createRequire } from "node:module";

const { openStore } = createRequire(import.meta.url)("./open-store.cjs");

/** The harness's access to the store of a module. It has no other access to the database, and never opens it beside a shop. */
export class ModuleDatabase {
  #kit;

  constructor(kit, address) {
    this.#kit = kit;
    this.address = address;
  }

  async #use(run) {
    const opened = await openStore(this.#kit, this.address);
    try {
      return await run(opened);
    } finally {
      await opened.store.close?.();
    }
  }

  async prepare(payments) {
    await this.#use(async ({ store, prepare }) => {
      await prepare?.();
      await store.migrate?.();
      for (let from = 0; from < payments.length; from += 8) {
        const created = payments.slice(from, from + 8);
        await store.transaction((tx) => store.save(tx, { created }));
      }
    });
  }

  /** Returns what is stored, with the names of the columns that the SQL stores have. */
  records() {
    return this.#use(async ({ store, rows }) => {
      const stored = { webhooks: [], dispatches: [], unexpanded: [], ledger: await rows() };
      const payments = await store.list({ newestFirst: false, limit: 1e6 });
      for (const { clientId } of payments) {
        const { webhooks, events, dispatches } = await store.history(clientId);
        const isExpanded = ({ id }) => dispatches.some(({ eventId }) => eventId === id);
        stored.webhooks.push(
          ...webhooks.map((row) => ({ ...row, receipt_id: row.receiptId, client_id: row.clientId })),
        );
        stored.dispatches.push(...dispatches.map((row) => ({ ...row, event_id: row.eventId })));
        stored.unexpanded.push(
          ...events.filter((event) => event.type === "payment.completed" && !isExpanded(event)),
        );
      }
      return { ...stored, payments: payments.map((row) => ({ ...row, client_id: row.clientId })) };
    });
  }

  /** Returns whether anything is not settled yet. */
  undone(shop) {
    return shop.undone();
  }

  drop() {
    return this.#use(({ remove }) => remove?.());
  }

  async close() {}
}
