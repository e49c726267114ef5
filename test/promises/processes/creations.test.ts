import { testKit } from "../../support/kit.js";
import { willingService } from "../../support/willing-service.js";
import { onEachDatabase, openPlace, openStore, type Place } from "./databases.js";

jest.setTimeout(120_000);

const total = { value: "1475", currency: "KMF" };
const references = Array.from({ length: 40 }, (_, index) => `order-${index}`);

onEachDatabase("groups of creations of several processes", (kind) => {
  let place: Place;
  afterEach(() => place.remove());

  it("three processes that create payments for the same orders, in three sequences, open one attempt of each", async () => {
    place = await openPlace(kind);
    const { sent, options: service } = willingService();
    // Each has connections of its own, like a process.
    const kits = [0, 1, 2].map(() => testKit({ store: openStore(place.address), service, dispatch: false }));
    const sequences = [references, references.toReversed(), references.toSorted()];
    const created = await Promise.all(
      kits.flatMap((payments, index) =>
        sequences[index]!.map(async (reference) => {
          const { clientId } = await payments.create({ reference, total });
          return `${reference} ${clientId}`;
        }),
      ),
    );
    await Promise.all(kits.map((payments) => payments.close()));

    expect([new Set(created).size, sent.length]).toEqual([references.length, references.length]);
    const rows = await place.select("select client_id from @payments where open_reference is not null");
    expect(rows).toHaveLength(references.length);
  });
});
