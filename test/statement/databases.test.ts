import { type Payment } from "tillkit";
import { onEachDatabase, openPlace, type Place } from "../promises/processes/databases.js";
import { storeOf, compared, paid, pending } from "./support/stored.js";

const header = "clientId,serviceId,value,currency";

/** Returns more payments than one page of the store, and more rows than one batch, with differences of every kind. */
function makeCases(): { payments: Payment[]; lines: string[] } {
  const payments: Payment[] = [];
  const lines: string[] = [];
  for (let number = 0; number < 1300; number += 1) {
    // Ids that differ only in their case, and references that some collations would treat as equal.
    const clientId = number % 2 === 0 ? `p${number}` : `P${number - 1}`;
    const serviceId = `s-${number}`;
    const reference = number % 26 < 2 ? `Ordre ${number - (number % 26)}` : `ordre ${number} é`;
    const createdAt = `2024-05-${String(1 + (number % 28)).padStart(2, "0")}T00:00:00.000Z`;
    const completedAt = `2024-05-${String(1 + (number % 31)).padStart(2, "0")}T12:00:00.000Z`;
    const kind = number % 13;
    if (kind === 3) payments.push(pending(clientId, { serviceId, reference, createdAt }));
    else if (kind !== 4) payments.push(paid(clientId, { serviceId, reference, createdAt, completedAt }));
    if (kind === 5) continue;
    const value = kind === 6 ? "1" : "1475.00";
    lines.push(`${kind === 7 ? "" : clientId},${kind === 8 ? "s-none" : serviceId},${value},KMF`);
    if (kind === 9) lines.push(`,${serviceId},1475,KMF`);
  }
  return { payments, lines };
}

onEachDatabase("a statement compared with stored payments", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(() => place.remove());

  it("gives the same result as with MemoryStore", async () => {
    const { payments, lines } = makeCases();
    const { store } = place;
    await store.transaction((tx) => store.save(tx, { created: payments }));
    const expected = await compared(await storeOf(...payments), header, lines);
    const { found, summary } = await compared(store, header, lines, { sort: { runLines: 100, fanIn: 3 } });
    expect(found).toEqual(expected.found);
    expect(summary).toEqual(expected.summary);
    const kinds = [
      "missing_here",
      "missing_there",
      "amount_differs",
      "unpaid_here",
      "listed_twice",
      "paid_twice",
    ];
    for (const one of [...kinds, "id_differs"] as ["id_differs"])
      expect(summary.counts[one]).toBeGreaterThan(20);
  });
});
