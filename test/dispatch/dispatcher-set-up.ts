import { type ClaimOptions, MemoryStore, type MemoryTx } from "tillkit";
import { Dispatcher, type DispatcherOptions } from "../../src/dispatch/dispatcher.js";
import { Handlers } from "../../src/dispatch/handlers.js";
import { event } from "../../src/store/exam/checks/fixtures.js";
import { until } from "../../src/store/exam/checks/steps.js";

export const ends: (() => Promise<void>)[] = [];
const rejections: unknown[] = [];
const noteRejection = (reason: unknown) => void rejections.push(reason);
/** Stops the dispatchers after each test, and fails for a rejection that would end the process of a shop. */
export function endDispatchers(): void {
  beforeEach(() => void process.on("unhandledRejection", noteRejection));
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(ends.splice(0).map((end) => end()));
    await iterations();
    process.off("unhandledRejection", noteRejection);
    if (rejections.length > 0) throw rejections.splice(0)[0];
  });
}

/** Makes a dispatcher without polls. Records its claims and notices. */
export function setUp(over: Partial<DispatcherOptions<MemoryTx>> = {}) {
  const store = new MemoryStore();
  const claims: ClaimOptions[] = [];
  const claim = store.claim.bind(store);
  store.claim = (options) => (claims.push(options), claim(options));
  const notices: [type: string, notice: unknown][] = [];
  const handlers = new Handlers<MemoryTx>();
  const dispatcher = new Dispatcher<MemoryTx>({
    store,
    handlers,
    concurrency: 4,
    pollMs: 60_000,
    leaseMs: 60_000,
    handlerTimeoutMs: 60_000,
    maxLostLeases: 3,
    retry: { maxFailures: 2, firstDelayMs: 1000, maxDelayMs: 2000 },
    ready: () => Promise.resolve(),
    now: () => new Date(),
    notify: (type, notice) => void notices.push([type, notice]),
    ...over,
  });
  ends.push(() => dispatcher.stop(0));
  const save = async (...events: ReturnType<typeof event>[]) => {
    await store.registerHandlers(handlers.keys());
    await store.transaction((tx) => store.save(tx, { events }));
  };
  return { store, claims, notices, handlers, dispatcher, save };
}

/** A handler that runs until it is released, and the releases of its runs. */
export function held() {
  const releases: (() => void)[] = [];
  return { releases, run: () => new Promise<void>((resolve) => void releases.push(resolve)) };
}

/** Makes every claim find nothing, and wait. Returns a function that ends the last claim. */
export function holdClaims({
  store,
  claims,
}: Pick<ReturnType<typeof setUp>, "store" | "claims">): () => void {
  let end = (): void => {};
  store.claim = (options) => {
    claims.push(options);
    return new Promise((resolve) => (end = () => resolve([])));
  };
  return () => end();
}

export const ids = (count: number) => Array.from({ length: count }, (_, index) => event(`e${index}`));

/** Waits until there are so many. */
export const reaches = async (list: readonly unknown[], count: number) => {
  await until(async () => (list.length >= count ? true : undefined));
  expect(list).toHaveLength(count);
};

/** Time for a claim that must not come. */
export async function iterations(count = 30): Promise<void> {
  for (let iteration = 0; iteration < count; iteration++) await new Promise(setImmediate);
}

/** Resolves never, like a transaction whose run has ended and whose commit hangs. */
export const hangs = (run: Promise<unknown>) =>
  Promise.allSettled([run]).then(() => new Promise<never>(() => {}));

/** Resolves when this number of transactions hang. */
export async function untilHanging(dispatcher: Dispatcher<MemoryTx>, count: number): Promise<void> {
  while (dispatcher.hanging < count) await iterations(1);
}
