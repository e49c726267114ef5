import { closeAll } from "../../support/kit.js";
import { onOwnServers, stopOwnServers } from "../../support/own-servers.js";
import { type PatroniCluster, patroniPrograms, startPatroni } from "../../support/patroni-cluster.js";
import { print, startTrial } from "./trial.js";

jest.setTimeout(480_000);

onOwnServers("a cluster of Patroni under load", patroniPrograms, () => {
  let cluster: PatroniCluster | undefined;
  afterEach(async () => {
    await cluster?.close();
    try {
      await closeAll();
    } finally {
      await stopOwnServers();
    }
  });

  it("switchover, then the death of the leader: each webhook that was answered 200 is recorded once, and each order is handled once", async () => {
    cluster = await startPatroni();
    const url = `postgres://postgres@127.0.0.1:${cluster.address.port}/postgres`;
    const names = await cluster.untilComplete();
    const trial = await startTrial(url);
    await trial.handles(100);

    const switched = performance.now();
    await cluster.switchOver(names);
    const first = await trial.recovers(switched);
    await trial.handles(100);
    const now = await cluster.untilComplete();
    expect(now).toEqual({ leader: names.standby, standby: names.leader });

    const killed = performance.now();
    cluster.kill(now.leader);
    await cluster.untilLeader(now.standby);
    const promoted = performance.now();
    const second = await trial.recovers(promoted);
    await trial.handles(100);
    const figures = await trial.check(url);
    print("Patroni, switchover", figures, first);
    print(`Patroni, leader killed, new one after ${Math.round(promoted - killed)} ms`, figures, second);
    expect(second.refusedUntil).toBeLessThan(20_000);
  });
});
