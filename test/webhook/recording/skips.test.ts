import { storeOver } from "tillkit";
import { Skips } from "../../../src/webhook/recording/skips.js";
import { memoryAdapter, type MemoryTransaction } from "../../store/over/memory-adapter.js";
import { temporaryFiles } from "../../store/sql/support/temporary-files.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { until } from "../../promises/processes/members.js";

const nextFile = temporaryFiles();
afterEach(closeAll);

const named = (receiptId: string) => ({ receiptId });

describe("the webhooks that a drain skips", () => {
  /** Skips ten webhooks, and is stopped by another one. */
  function stop(skips: Skips, from: number): void {
    for (let n = from; n < from + 10; n++) expect(skips.add(`r-${n}`)).toBe(false);
    expect(skips.add(`r-${from + 10}`)).toBe(true);
  }

  it("are passed by the next drain if they stopped the last one, and by the one after it if others stop it", () => {
    const skips = new Skips();
    stop(skips, 0);
    skips.start();
    expect([named("r-0"), named("r-10"), named("r-11")].map((one) => skips.isPassed(one))).toEqual([
      true,
      true,
      false,
    ]);
    stop(skips, 11);
    skips.noteRecorded();
    skips.start();
    expect([skips.isPassed(named("r-0")), skips.isPassed(named("r-21"))]).toEqual([true, true]);
  });

  it("are tried again after a drain that they did not stop", () => {
    const skips = new Skips();
    skips.add("r-0");
    skips.start();
    expect(skips.isPassed(named("r-0"))).toBe(false);
    stop(skips, 0);
    skips.start();
    skips.start();
    expect(skips.isPassed(named("r-0"))).toBe(false);
  });

  it("do not stop a drain if one was recorded between them", () => {
    const skips = new Skips();
    for (let n = 0; n < 10; n++) skips.add(`r-${n}`);
    skips.noteRecorded();
    expect(skips.add("r-10")).toBe(false);
  });
});

it("twelve webhooks that the database always refuses do not block the webhooks behind them", async () => {
  const adapter = memoryAdapter();
  let isDown = true;
  const store = storeOver<MemoryTransaction>({
    ...adapter,
    write: async (changes, tx) => {
      if (isDown || changes.some(({ value }) => value?.includes("bad-"))) throw new Error("refused");
      return adapter.write(changes, tx);
    },
  });
  const spool = { directory: `${nextFile()}-spool` };
  const payments = testKit<never, MemoryTransaction>({ store, spool, dispatch: { pollMs: 50 } });
  const ids = [...Array.from({ length: 12 }, (_, n) => `bad-${n}`), "good"];
  for (const id of ids) await payments.receiveWebhook(signed(completedBody({ clientId: id, id: `s-${id}` })));
  isDown = false;
  await payments.start();
  const isRecorded = async () => (await store.webhooks({ clientId: "good", limit: 1 })).length > 0;
  await until(isRecorded, "the webhook behind the refused ones is recorded", 60_000);
  expect(await payments.health()).toMatchObject({ spool: { setAside: 0 } });
});
