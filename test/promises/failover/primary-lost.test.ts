import { closeAll } from "../../support/kit.js";
import { onOwnServers, stopOwnServers } from "../../support/own-servers.js";
import {
  clusterPrograms,
  type PostgresNode,
  startCluster,
  waitForStandby,
} from "../../support/postgres-cluster.js";
import { type VirtualAddress, virtualAddress } from "../../support/virtual-address.js";
import { print, startTrial, type Trial } from "./trial.js";

jest.setTimeout(360_000);

onOwnServers("the loss of a primary under load", clusterPrograms, () => {
  let primary: PostgresNode;
  let standby: PostgresNode;
  let address: VirtualAddress;
  let trial: Trial;
  beforeEach(async () => {
    ({ primary, standby } = await startCluster());
    address = await virtualAddress(primary.port);
    trial = await startTrial(`postgres://postgres@127.0.0.1:${address.port}/postgres`, primary.url);
    await trial.handles(100);
  });
  afterEach(async () => {
    // First, because a kit whose connections are silent may not close before they are broken.
    await address?.close();
    try {
      await closeAll();
    } finally {
      await stopOwnServers();
    }
  });

  it("primary stops immediately: the promoted standby has each webhook that was answered 200, and each order is handled once", async () => {
    await primary.stop("immediate");
    await trial.refuses(10);
    await standby.promote();
    const from = performance.now();
    address.point(standby.port, "cut");
    const recovery = await trial.recovers(from);
    await trial.handles(100);
    print("Primary stopped", await trial.check(standby.url), recovery);
    expect(recovery.refusedUntil).toBeLessThan(20_000);
  });

  it("open connections lead to the former primary, which is read-only: they are replaced, and each order is handled once", async () => {
    // A kit connects again before the address moves, as where a name still resolves to the old host.
    await primary.stop("fast");
    await standby.promote();
    primary.follow(standby);
    await primary.start();
    await waitForStandby(standby);
    await trial.refuses(10);
    const from = performance.now();
    address.point(standby.port, "leave");
    const recovery = await trial.recovers(from);
    await trial.handles(100);
    print("Left on a read-only server", await trial.check(standby.url), recovery);
    expect(recovery.refusedUntil).toBeLessThan(20_000);
  });

  it("primary disappears without closing a connection: new ones lead to the promoted standby, and each order is handled once", async () => {
    // Refuses new connections meanwhile, and silences the open ones for ever.
    address.point(undefined, "silence");
    await primary.stop("immediate");
    await trial.refuses(10);
    await standby.promote();
    const from = performance.now();
    address.point(standby.port, "leave");
    const recovery = await trial.recovers(from);
    await trial.handles(100);
    print("Silent connections", await trial.check(standby.url), recovery);
    expect(recovery.refusedUntil).toBeLessThan(30_000);
  });
});
