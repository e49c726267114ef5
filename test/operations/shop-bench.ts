import { type Changes, type EventType, type Payment, type PaymentsOptions, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { openPlace, openStore, type Place } from "../promises/processes/databases.js";
import { closeAll, testKit } from "../support/kit.js";

type Options = Partial<PaymentsOptions<SignedField, SqlTx>>;

/** Gives each test an empty database of this kind. The end of the test closes its shops and removes the database. */
export function shopBench(kind: Parameters<typeof openPlace>[0], defaults: () => Options = () => ({})) {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(async () => {
    await closeAll();
    await place.remove();
  });

  const save = (changes: Changes) => place.store.transaction((tx) => place.store.save(tx, changes));
  return {
    get place() {
      return place;
    },
    /** A process of the shop. */
    shop: (options: Options = {}) =>
      testKit<SignedField, SqlTx>({
        store: openStore(place.address),
        spool: false,
        ...defaults(),
        ...options,
      }),
    save,
    seed: (...created: Payment[]) => save({ created }),
    /** Returns the types of all events, in the order of their recording. */
    recorded: async () =>
      (await place.select<{ type: EventType }>("select type from @events order by seq")).map(
        ({ type }) => type,
      ),
  };
}
