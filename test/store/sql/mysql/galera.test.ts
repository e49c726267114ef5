import { createConnection, type RowDataPacket } from "mysql2/promise";
import { type Payment } from "tillkit";
import { mysqlStore, type SqlPaymentStore } from "tillkit/sql";
import { until } from "../../../promises/processes/members.js";
import { galeraIsMissing, type GaleraCluster, startGalera } from "../../../support/galera.js";
import { closeAll, testKit } from "../../../support/kit.js";
import { statusBody, pendingPayment, signed } from "../../../support/webhooks.js";

const missing = galeraIsMissing();

if (missing !== undefined) {
  console.info(`A Galera cluster is not examined: ${missing}.`);
  it("leaves a Galera cluster out, because its programs are not installed", () => {
    expect(galeraIsMissing()).toBe(missing);
  });
} else examine();

function examine(): void {
  // Two servers are started and connected.
  jest.setTimeout(120_000);
  let cluster: GaleraCluster;
  let tablePrefix: string;
  let tests = 0;

  beforeAll(async () => {
    cluster = await startGalera();
  });
  beforeEach(() => void (tablePrefix = `t${++tests}_`));
  afterEach(closeAll);
  afterAll(() => cluster.stop());

  async function select(sql: string): Promise<Record<string, unknown>[]> {
    const connection = await createConnection(cluster.urls[0]!);
    try {
      await connection.query("set session wsrep_sync_wait = 15");
      return (await connection.query<RowDataPacket[]>(sql.replaceAll("@", tablePrefix)))[0];
    } finally {
      await connection.end();
    }
  }

  /** Opens a store on each server, with these pending payments. */
  async function openStores(created: Payment[]) {
    const stores = cluster.urls.map((url) => mysqlStore(url, { tablePrefix }));
    const [first, second] = stores as [SqlPaymentStore, SqlPaymentStore];
    await first.transaction((tx) => first.save(tx, { created }));
    return [first, second] as const;
  }

  it("completes each payment once, and records each acknowledged webhook once, where both servers take them", async () => {
    const payments = Array.from({ length: 300 }, (_, n) =>
      pendingPayment({ clientId: `c-${n}`, reference: `order-${n}`, serviceId: `s-${n}` }),
    );
    const stores = await openStores(payments);
    await stores[0].transaction(async (tx) => {
      await tx.query(`create table ${tablePrefix}ledger (id int auto_increment primary key, client_id text)`);
    });
    const kits = stores.map((store) => testKit({ store, dispatch: { pollMs: 20 } }));
    for (const kit of kits)
      kit.onPaymentCompleted(async function fulfil({ payment }, { tx }) {
        await tx.query(`insert into ${tablePrefix}ledger (client_id) values (?)`, [payment.clientId]);
      });
    await Promise.all(kits.map((kit) => kit.start()));

    const refused: unknown[] = [];
    const send = async (kit: number, { clientId, serviceId }: Payment, status: string): Promise<void> => {
      const body = statusBody(status, { clientId, id: serviceId });
      await kits[kit]!.receiveWebhook(signed(body)).catch((error: unknown) => refused.push(error));
    };
    for (let first = 0; first < payments.length; first += 10)
      await Promise.all(
        payments
          .slice(first, first + 10)
          .flatMap((payment) => [
            send(0, payment, "completed"),
            send(1, payment, "completed"),
            send(0, payment, "captured"),
            send(1, payment, "pending"),
          ]),
      );
    const undone =
      "select 1 from @dispatches where state <> 'done' union all select 1 from @events where unexpanded = 1";
    await until(async () => (await select(undone)).length === 0, "every run of the handlers");

    expect(refused).toEqual([]);
    const clientIds = payments.map(({ clientId }) => clientId).toSorted();
    const completed = await select(
      "select client_id from @events where type = 'payment.completed' order by 1",
    );
    expect(completed.map((row) => row["client_id"])).toEqual(clientIds);
    const written = await select("select client_id from @ledger order by 1");
    expect(written.map((row) => row["client_id"])).toEqual(clientIds);
    const webhooks = await select("select client_id, count(*) as n from @webhooks group by 1 order by 1");
    expect(webhooks).toEqual(clientIds.map((client_id) => ({ client_id, n: 3 })));
  });

  it("fulfils an order once, and raises payment.paid_twice, where two attempts complete at the same time", async () => {
    const orders = Array.from({ length: 150 }, (_, n) => [
      pendingPayment({
        clientId: `a-${n}`,
        reference: `order-${n}`,
        serviceId: `sa-${n}`,
        open: false,
        state: "failed",
      }),
      pendingPayment({ clientId: `b-${n}`, reference: `order-${n}`, serviceId: `sb-${n}` }),
    ]);
    const stores = await openStores(orders.flat());
    const kits = stores.map((store) => testKit({ store, dispatch: false }));
    for (const attempts of orders)
      await Promise.all(
        attempts.map(({ clientId, serviceId }, index) =>
          kits[index]!.receiveWebhook(signed(statusBody("completed", { clientId, id: serviceId }))),
        ),
      );
    const count = (type: string) =>
      select(`select count(*) as n from @events where type = '${type}'`).then((rows) => rows[0]!["n"]);
    // A server says that it has applied a commit of the other one a moment before its rows can be read.
    const counted = "select id from @events where type in ('payment.completed', 'payment.paid_twice')";
    await until(async () => (await select(counted)).length === 300, "every event");
    expect([await count("payment.completed"), await count("payment.paid_twice")]).toEqual([150, 150]);
  });

  it("makes the tables once, however many processes start on both servers at the same moment", async () => {
    const stores = Array.from({ length: 8 }, (_, n) => mysqlStore(cluster.urls[n % 2]!, { tablePrefix }));
    await Promise.all(stores.map((store) => store.migrate()));
    await Promise.all(stores.map((store) => store.find("nobody")));
    expect(await select("select name from @meta order by 1")).toEqual([
      { name: "handlers" },
      { name: "identity" },
      { name: "version" },
    ]);
    await Promise.all(stores.map((store) => store.close()));
  });
}
