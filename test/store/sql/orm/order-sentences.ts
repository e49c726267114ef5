import { type NoticeMap, type Payments, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { openPlace, openStore, type Address, type Place } from "../../../promises/processes/databases.js";
import { closeAll, testKit } from "../../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../../support/webhooks.js";

/** An order as the handlers of these tests write it. */
export interface Order {
  reference: string;
  attempt: number;
}

/** A way in which an application writes into its own table through `tx`. */
export interface Way {
  kind: Address["kind"];
  insert: (tx: SqlTx, table: string, order: Order) => Promise<unknown>;
}

/** Tests that hold for every way: a write is committed with the "done" mark of the handler, or not at all. */
export function orderSentences({ kind, insert }: Way): void {
  let place: Place;
  let table: string;

  beforeEach(async () => {
    place = await openPlace(kind);
    table = `${place.address.prefix}orders`;
    await place.store.transaction((tx) =>
      tx.query(`create table ${table} (reference varchar(64) not null, attempt integer not null)`),
    );
    await place.store.transaction((tx) => place.store.save(tx, { created: [pendingPayment()] }));
  });
  afterEach(async () => {
    await closeAll();
    await place.store.transaction((tx) => tx.query(`drop table ${table}`));
    await place.remove();
  });

  const orders = () => place.select<Order>("select * from @orders");
  const kit = (): Payments<SignedField, SqlTx> =>
    testKit<SignedField, SqlTx>({
      store: openStore(place.address),
      spool: false,
      dispatch: { firstDelayMs: 1, maxDelayMs: 2, pollMs: 5 },
    });

  it("commits with the handler, and leaves nothing when it throws after the write", async () => {
    const payments = kit();
    const done = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(async ({ payment: { reference } }, { tx, attempt }) => {
        await insert(tx, table, { reference, attempt });
        if (attempt < 3) throw new Error("after the write");
        resolve();
      });
    });
    const afterFailure: Promise<Order[]>[] = [];
    payments.on("dispatch.failed", () => void afterFailure.push(orders()));
    await payments.start({ keepAlive: false });

    await payments.receiveWebhook(signed(completedBody()));
    await done;
    await payments.receiveWebhook(signed(completedBody()));
    await payments.close();

    expect(afterFailure).toHaveLength(2);
    for (const seen of await Promise.all(afterFailure))
      expect(seen.filter(({ attempt }) => attempt < 3)).toEqual([]);
    expect(await orders()).toEqual([{ reference: "order-1", attempt: 3 }]);
  });

  it("is rolled back and tried again when the error of another statement was swallowed", async () => {
    const payments = kit();
    const failures: NoticeMap["dispatch.failed"][] = [];
    payments.on("dispatch.failed", (notice) => void failures.push(notice));
    const done = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(async ({ payment: { reference } }, { tx, attempt }) => {
        await insert(tx, table, { reference, attempt });
        if (attempt === 1) await tx.query("insert into no_such_table values (1)").catch(() => {});
        else resolve();
      });
    });
    await payments.start({ keepAlive: false });

    await payments.receiveWebhook(signed(completedBody()));
    await done;
    await payments.close();

    expect(failures).toEqual([
      expect.objectContaining({
        error: expect.objectContaining({ code: "transaction_poisoned" }) as unknown,
      }),
    ]);
    expect(await orders()).toEqual([{ reference: "order-1", attempt: 2 }]);
  });
}
