import { payment } from "../../../../../src/store/exam/checks/fixtures.js";
import { clientIds, saved } from "../../../../../src/store/exam/checks/steps.js";
import { openPlace, serverUrl } from "../../../../promises/processes/databases.js";
import { openPatientStore, untilWaiting } from "../../support/waiting-for-locks.js";

if (serverUrl("mysql") === undefined)
  it("leaves the second look on MySQL out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
else
  it("record gives its first locks back before its second look, so that it cannot deadlock", async () => {
    const place = await openPlace("mysql");
    const [recorder, other] = [openPatientStore(place.address), openPatientStore(place.address)];
    await saved(place.store, { created: [payment("p2", { reference: "order-1" })] });
    const found: string[][] = [];
    const record = (): Promise<boolean> =>
      recorder.record({ clientIds: ["p2"] }, ({ payments }) => {
        found.push(clientIds(payments));
        return {};
      });
    // Opens the pipelined connection.
    await record();
    let recording: Promise<boolean> | undefined;
    let locking: Promise<void> | undefined;
    const lockOne = (id: string): string =>
      `select client_id from ${place.address.prefix}payments where client_id = '${id}' for update`;
    await place.store.transaction(async (tx) => {
      await place.store.lock(tx, { clientIds: ["p2"] });
      recording = record();
      await place.store.save(tx, {
        updated: [payment("p2", { reference: "order-1", open: false })],
        created: [payment("p1", { reference: "order-1" })],
      });
      locking = other.transaction(async (second) => {
        await second.query(lockOne("p1"));
        // Until the recorder takes its second look, and waits for p1. Waiting for p2 here would show a deadlock only where the
        // database ends this transaction, and not the recorder's, which is repeated.
        while ((await second.query(`${lockOne("p2")} skip locked`)).rows.length === 0)
          await new Promise((resolve) => setTimeout(resolve, 20));
      });
      await untilWaiting(place, 2);
    });
    await Promise.all([locking, recording]);
    expect(found.at(-1)).toEqual(["p1", "p2"]);
    await Promise.all([recorder.close(), other.close()]);
    await place.remove();
  });
