import { closeAll } from "../../support/kit.js";
import { onOwnServers, stopOwnServers } from "../../support/own-servers.js";
import { clusterPrograms, type PostgresNode, startPostgres } from "../../support/postgres-cluster.js";
import { type VirtualAddress, virtualAddress } from "../../support/virtual-address.js";
import { until } from "../processes/members.js";
import { print, startTrial, type Trial, unhurried } from "./trial.js";

jest.setTimeout(300_000);

onOwnServers("bad connections under load", clusterPrograms, () => {
  let server: PostgresNode;
  let address: VirtualAddress;
  beforeEach(async () => {
    server = await startPostgres();
    address = await virtualAddress(server.port);
  });
  const startUnderLoad = async (options?: Parameters<typeof startTrial>[2]): Promise<Trial> => {
    const url = `postgres://postgres@127.0.0.1:${address.port}/postgres`;
    const trial = await startTrial(url, server.url, options);
    await trial.handles(100);
    return trial;
  };
  afterEach(async () => {
    await address?.close();
    try {
      await closeAll();
    } finally {
      await stopOwnServers();
    }
  });

  it("connection cut after a commit: its answer is lost, and each order is handled once", async () => {
    const trial = await startUnderLoad();
    address.loseEachCommit = 8;
    await until(async () => address.lostCommits >= 20, "20 lost commits", 60_000);
    address.loseEachCommit = 0;
    const from = performance.now();
    const recovery = await trial.recovers(from);
    const figures = await trial.check(server.url);
    expect(figures.health.spooling.down).toBe(0);
    print(`${address.lostCommits} commits whose answer was lost`, figures, recovery);
  });

  it("answers that take 200 ms longer: no webhook is refused, and each order is handled once", async () => {
    const trial = await startUnderLoad(unhurried);
    address.latencyMs = 200;
    const from = performance.now();
    await trial.handles(100);
    const recovery = await trial.recovers(from);
    address.latencyMs = 0;
    const figures = await trial.check(server.url);
    print("200 ms of latency", figures, recovery);
    expect(figures).toMatchObject({ refused: 0, health: { plain: { down: 0 } } });
    // With the defaults, a webhook is refused after three seconds.
    expect(recovery.quickest).toBeLessThan(2500);
  });
});
