import { type Handler, type Payments, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { event } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";
import { onEachDatabase, openPlace, openStore, type Place, placeholders } from "./databases.js";
import { until } from "./members.js";

type Kit = Payments<SignedField, SqlTx>;

onEachDatabase("a handler that is renamed", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
    const { prefix } = place.address;
    await place.store.transaction((tx) =>
      tx.query(`create table ${prefix}fulfilled (event_id varchar(64) primary key)`),
    );
  });
  afterEach(async () => {
    await closeAll();
    await place.select("drop table @fulfilled");
    await place.remove();
  });

  /** Fulfils an order once for each event, under whatever name it runs: as docs/handlers.md shows. */
  const fulfil: Handler<"payment.completed"> = async ({ id }, { tx, idempotencyKey }) => {
    const { prefix } = place.address;
    const [verb, end] = kind === "postgres" ? ["insert", "on conflict do nothing"] : [ignoringInsert(), ""];
    const first = await tx.query(
      `${verb} into ${prefix}fulfilled (event_id) values (${placeholders(tx, 1)}) ${end}`,
      [id],
    );
    if (first.affected === 0) return;
    await tx.query(
      `insert into ${prefix}ledger (event_id, idempotency_key) values (${placeholders(tx, 2)})`,
      [id, idempotencyKey],
    );
  };
  const ignoringInsert = () => (kind === "sqlite" ? "insert or ignore" : "insert ignore");

  /** Starts a process of one version of the application, with the handler under these names. */
  async function start(names: readonly string[]): Promise<Kit> {
    const dispatch = { pollMs: 5, firstDelayMs: 5, maxDelayMs: 20 };
    const kit = testKit<SignedField, SqlTx>({ store: openStore(place.address), dispatch, spool: false });
    for (const name of names) kit.onPaymentCompleted(fulfil, { name });
    await kit.start({ keepAlive: false });
    return kit;
  }

  it("runs exactly once in effect for every event, in a deploy of two processes one after the other", async () => {
    const versions = [["books"], ["books", "ledger"], ["ledger"]];
    const ids: string[] = [];
    /** Records events on both kits, while both of them dispatch. */
    const pay = async (kits: readonly Kit[]): Promise<void> => {
      const some = Array.from({ length: 20 }, (_, n) => `e${ids.length + n}`);
      ids.push(...some);
      await Promise.all(some.map((id, n) => saved(kits[n % kits.length]!.store, { events: [event(id)] })));
    };
    const isAllDone = async (): Promise<boolean> =>
      (await place.ledger()).length === ids.length &&
      (await place.select("select 1 as one from @dispatches where open_handler is not null")).length === 0;
    const isOldDone = async (): Promise<boolean> =>
      (await place.select("select 1 as one from @dispatches where open_handler = 'books'")).length === 0;

    let [a, b] = [await start(versions[0]!), await start(versions[0]!)];
    await pay([a, b]);
    for (const names of versions.slice(1)) {
      // Step 3 begins when nothing from before step 2 waits for the old name.
      await until(isOldDone, "the old name has nothing to do");
      await pay([a, b]);
      await b.close();
      b = await start(names);
      await pay([a, b]);
      await a.close();
      a = await start(names);
      await pay([a, b]);
    }
    await a.retireHandler("books");
    await pay([a, b]);
    await until(isAllDone, "every event is fulfilled");
    expect((await a.health()).counts).toMatchObject({ dead: 0 });
    await Promise.all([a.close(), b.close()]);

    const ledger = await place.ledger();
    expect(ledger.map((row) => row.event_id).toSorted()).toEqual(ids.toSorted());
    const ofLastEvents = ledger.filter((row) => ids.slice(-20).includes(row.event_id));
    expect(ofLastEvents.every((row) => row.idempotency_key.endsWith(":ledger"))).toBe(true);
    expect(await place.select("select name from @handlers")).toEqual([{ name: "ledger" }]);
    expect(
      await place.select("select 1 as one from @dispatches where state not in ('done', 'retired')"),
    ).toEqual([]);
  });
});
