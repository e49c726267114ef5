import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { testSeed } from "../../support/test-seed.js";
import { onEachDatabase, openPlace, type Place } from "./databases.js";
import { members, until, type Member } from "./members.js";

jest.setTimeout(120_000);
const processes = members();
const names = ["books", "mail", "stock"];
const dispatch = { leaseMs: 500, pollMs: 50, firstDelayMs: 10, maxDelayMs: 50, maxLostLeases: 1e5 };

/** A seeded generator (mulberry32). Equal seeds give equal runs. */
function randomFrom(seed: number) {
  let state = seed;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (limit: number) => Math.floor(random() * limit),
    of: <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!,
  };
}

onEachDatabase("processes that come and go", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(() => place.remove());

  it("miss no event for any name, while web and worker processes start and stop in any order", async () => {
    const seed = testSeed();
    console.info(`any order, on ${kind}: TILLKIT_TEST_SEED=${seed}`);
    const random = randomFrom(seed);
    const { address, store } = place;
    const payments = Array.from({ length: 60 }, (_, n) =>
      pendingPayment({ clientId: `c-${n}`, reference: `order-${n}`, serviceId: `s-${n}` }),
    );
    await store.transaction((tx) => store.save(tx, { created: payments }));

    const webs: Member[] = [];
    const workers: Member[] = [];
    const known = new Set<string>();
    const wanted = new Set<string>();
    const startWeb = async () =>
      void webs.push(await processes.start({ address, web: true, names: [], dispatch: false }));
    const startWorker = async (own = names.filter(() => random.below(2) === 0)) => {
      workers.push(await processes.start({ address, web: false, names: own, dispatch }));
      for (const name of own) known.add(name);
    };
    const end = async (list: Member[]) => {
      const [member] = list.splice(random.below(list.length), 1);
      member?.signal(random.of(["SIGTERM", "SIGKILL"] as const));
      await member?.exited;
    };
    const pay = async (clientId: string, serviceId: string) => {
      const expected = [...known];
      if (webs.length === 0) await startWeb();
      // The service repeats webhooks that were not answered 200.
      while ((await random.of(webs).post(completedBody({ clientId, id: serviceId }))) !== 200);
      for (const name of expected) wanted.add(`${clientId} ${name}`);
    };

    // Before the first payment. Otherwise no name might be registered until the last payment, and no event would be dispatched.
    await startWorker([random.of(names)]);
    let sent = 0;
    while (sent < payments.length) {
      const step = random.below(10);
      if (step === 0 && webs.length < 2) await startWeb();
      else if (step === 1 && webs.length > 0) await end(webs);
      else if (step <= 3 && workers.length < 3) await startWorker();
      else if (step === 4 && workers.length > 0) await end(workers);
      else {
        const burst = payments.slice(sent, (sent += 1 + random.below(6)));
        await Promise.all(burst.map(({ clientId, serviceId }) => pay(clientId, serviceId!)));
      }
    }
    await startWorker(names);

    const done = async () => (await place.ledger()).map(({ client_id, name }) => `${client_id} ${name}`);
    await until(async () => {
      const have = new Set(await done());
      return [...wanted].every((one) => have.has(one));
    }, `all of ${wanted.size} runs`);
    const runs = await done();
    expect(new Set(runs).size).toBe(runs.length);
    expect(wanted.size).toBeGreaterThan(0);
  });
});
