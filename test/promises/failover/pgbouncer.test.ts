import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { type SqlTx } from "tillkit/sql";
import { type SignedField } from "tillkit";
import { appOf, closeAll, serve, testKit } from "../../support/kit.js";
import {
  findProgram,
  freePort,
  onOwnServers,
  ownFolder,
  startProgram,
  stopOwnServers,
} from "../../support/own-servers.js";
import {
  clusterPrograms,
  type PostgresNode,
  startPostgres,
  untilAnswers,
} from "../../support/postgres-cluster.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { willingService } from "../../support/willing-service.js";
import { openPlace, openStore } from "../processes/databases.js";
import { members } from "../processes/members.js";
import { print, startTrial, unhurried } from "./trial.js";

jest.setTimeout(300_000);
const processes = members();
const program = findProgram("pgbouncer");
const version =
  program && /\d+\.\d+\.\d+/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0];
/** Whether it translates the names of prepared statements in transaction mode. */
const keepsNames = version !== undefined && Number(version.split(".")[1]) >= 21;

onOwnServers("PgBouncer", [...clusterPrograms, "pgbouncer"], () => {
  let server: PostgresNode;
  let url: string;
  beforeEach(async () => {
    server = await startPostgres();
    url = await startPgBouncer(server.port);
  });
  afterEach(async () => {
    await closeAll();
    await stopOwnServers();
  });

  const withoutNames = { name: "preparedStatements: false", options: { preparedStatements: false } };
  const settings = [{ name: "the defaults of the kit", options: {} }, withoutNames];

  it.each(settings)(
    "a whole purchase with $name: a worker of another process is woken within pollMs",
    async ({ options }) => {
      const place = await openPlace("postgres", server.url);
      const address = { ...place.address, url, options };
      const worker = await processes.start({ address, web: false, names: ["books"], dispatch: {} });
      const service = willingService();
      const store = openStore(address);
      const payments = testKit<SignedField, SqlTx>({ store, service: service.options, spool: false });
      await payments.start({ keepAlive: false });
      const shop = await serve(appOf(payments));
      for (const n of [1, 2, 3, 4, 5]) {
        const order = { reference: `order-${n}`, total: { value: "1475", currency: "KMF" } };
        const { clientId } = await payments.create(order);
        const { headers, rawBody } = signed(completedBody({ clientId, id: `s-${n}` }));
        const answer = await fetch(`${shop}/payments/webhook`, { method: "POST", headers, body: rawBody });
        expect(answer.status).toBe(200);
        const from = performance.now();
        expect(await worker.next("ended")).toMatchObject({ clientId, attempt: 1 });
        // The default of pollMs is 1000; the rest is for a slow machine.
        expect(performance.now() - from).toBeLessThan(20_000);
      }
      worker.signal("SIGTERM");
      expect(await worker.exited).toBe(0);
      expect(await place.ledger()).toHaveLength(5);
      await place.remove();
    },
  );

  it.each(settings)(
    "two kits with $name under load: no webhook is refused, and each order is handled once",
    async ({ name, options }) => {
      const store = { ...unhurried.store, ...options };
      const trial = await startTrial(url, server.url, { ...unhurried, store });
      await trial.handles(300);
      const figures = await trial.check(server.url);
      print(`Behind PgBouncer, ${name}`, figures);
      expect(figures).toMatchObject({ refused: 0, health: { plain: { down: 0 }, spooling: { down: 0 } } });
    },
  );
});

/** Starts PgBouncer in transaction mode, with few connections to the server. Resolves with the address behind it. */
async function startPgBouncer(serverPort: number): Promise<string> {
  const folder = ownFolder();
  const port = await freePort();
  const configuration = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "trust",
    auth_file: path.join(folder, "users.txt"),
    pool_mode: "transaction",
    default_pool_size: 6,
    max_client_conn: 200,
    ...(keepsNames && { max_prepared_statements: 200 }),
  };
  const lines = Object.entries(configuration).map(([name, value]) => `${name} = ${value}`);
  const databases = ["[databases]", `postgres = host=127.0.0.1 port=${serverPort}`];
  writeFileSync(configuration.auth_file, '"postgres" ""\n');
  writeFileSync(path.join(folder, "pgbouncer.ini"), [...databases, "[pgbouncer]", ...lines, ""].join("\n"));
  startProgram("pgbouncer", [path.join(folder, "pgbouncer.ini")]);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilAnswers(url);
  return url;
}
