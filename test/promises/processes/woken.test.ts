import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { onEachServer, openPlace } from "./databases.js";
import { members } from "./members.js";

const processes = members();

describe("a worker without HTTP", () => {
  onEachServer("a worker that is woken", (kind) => {
    const poll = kind === "postgres" ? 60_000 : 500;
    it("stays alive, and notices another process's commit in time", async () => {
      const place = await openPlace(kind);
      const { address, store } = place;
      const many = [1, 2, 3].map((n) =>
        pendingPayment({ clientId: `c-${n}`, reference: `order-${n}`, serviceId: `s-${n}` }),
      );
      await store.transaction((tx) => store.save(tx, { created: many }));
      // PostgreSQL wakes it. MySQL cannot, so it polls.
      const slow = { pollMs: poll };
      const worker = await processes.start({ address, web: false, names: ["books"], dispatch: slow });
      const web = await processes.start({ address, web: true, names: [], dispatch: slow });

      for (const { clientId, serviceId } of many) {
        expect(await web.post(completedBody({ clientId, id: serviceId }))).toBe(200);
        const from = performance.now();
        expect(await worker.next("ended")).toMatchObject({ clientId, attempt: 1 });
        expect(performance.now() - from).toBeLessThan(20_000);
      }
      expect(worker.child.exitCode).toBeNull();
      worker.signal("SIGTERM");
      expect(await worker.exited).toBe(0);
      expect(await place.ledger()).toHaveLength(3);
      await place.remove();
    });
  });
});
