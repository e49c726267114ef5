import { setTimeout as delay } from "node:timers/promises";
import { type SqlPaymentStore } from "tillkit/sql";
import { type Address, openStore, type Place } from "../../../promises/processes/databases.js";

const waiting = {
  postgres:
    "select count(*) as waiting from pg_stat_activity where wait_event_type = 'Lock' and query like '%@%'",
  mysql:
    "select count(*) as waiting from information_schema.innodb_trx where trx_state = 'LOCK WAIT' and trx_query like '%@%'",
};

/** Opens a store that waits for locks for longer than {@link untilWaiting}, also on a slow machine. */
export function openPatientStore(address: Address): SqlPaymentStore {
  return openStore({ ...address, options: { busyTimeoutMs: 30_000 } });
}

/** Resolves when so many statements on the test's tables wait for locks. Rejects after twenty seconds. */
export async function untilWaiting(place: Place, count = 1): Promise<void> {
  const sql = waiting[place.address.kind as keyof typeof waiting];
  const giveUpAt = performance.now() + 20_000;
  while (performance.now() < giveUpAt) {
    const [row] = await place.select<{ waiting: unknown }>(sql);
    if (Number(row!.waiting) >= count) return;
    // InnoDB looks again only after a tenth of a second in which nobody asked. Two tests that ask in a steady rhythm would
    // keep it from that for ever.
    await delay(150 + Math.random() * 300);
  }
  throw new Error("Too few statements have waited for a lock.");
}
