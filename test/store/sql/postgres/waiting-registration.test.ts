import { type SqlPaymentStore } from "tillkit/sql";
import { ledger } from "../../../../src/store/exam/checks/fixtures.js";
import { openPlace, openStore, type Place, serverUrl } from "../../../promises/processes/databases.js";
import { until } from "../../../webhook/spool/fixtures.js";

const given = serverUrl("postgres");

describe("a registration that waits for an expansion", () => {
  if (given === undefined) {
    it("is left out, because no server is named", () => expect(given).toBeUndefined());
    return;
  }

  let place: Place;
  beforeEach(async () => {
    place = await openPlace("postgres");
    await place.store.migrate();
  });
  afterEach(() => place.remove());

  const open = () => openStore({ ...place.address, options: { busyTimeoutMs: 60_000 } });
  /** Opens a transaction that keeps registrations out, as each expansion does, until `ends`. */
  const expansion = (store: SqlPaymentStore, started: () => void, ends: Promise<void>) =>
    store.transaction(async (tx) => {
      await tx.query(`select value from ${place.address.prefix}meta where name = 'handlers' for share`);
      started();
      await ends;
    });
  const waiting = () =>
    place.select(`select 1 from pg_locks where not granted and relation = '@meta'::regclass`);

  it("is not overtaken by expansions that begin later", async () => {
    const [store, other] = [open(), open()];
    let end!: () => void;
    const ends = new Promise<void>((resolve) => (end = resolve));
    await new Promise<void>((resolve, reject) => void expansion(other, resolve, ends).catch(reject));
    const registered = store.registerHandlers([ledger]);
    await until(async () => (await waiting()).length === 1);
    const later = expansion(other, () => {}, registered);
    await until(async () => (await waiting()).length === 2);
    end();
    await Promise.all([registered, later]);
    expect(await store.handlers()).toMatchObject([{ name: ledger.name }]);
    await Promise.all([store.close(), other.close()]);
  });
});
