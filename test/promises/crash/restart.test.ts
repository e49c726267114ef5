import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sqliteStore } from "tillkit/sql";
import { buildKit } from "../../support/built-kit.js";
import { secret } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

let kit: string;
let folder: string;
const running = new Set<ChildProcess>();

beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tillkit-crash-"));
});
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

type Message =
  { port: number } | { handling: string; attempt: number } | { ledger: Record<string, unknown>[] };

/** Starts a shop process with the database of the test. */
async function startShop(speed: "slow" | "fast") {
  const child = fork(path.join(__dirname, "shop.cjs"), [kit, path.join(folder, "shop.db"), speed], {
    env: { ...process.env, SECRET: secret },
  });
  running.add(child);
  const messages: Message[] = [];
  child.on("message", (message: Message) => messages.push(message));
  const next = async <Key extends string>(key: Key): Promise<Extract<Message, Record<Key, unknown>>> => {
    for (;;) {
      const index = messages.findIndex((message) => key in message);
      if (index >= 0) return messages.splice(index, 1)[0] as Extract<Message, Record<Key, unknown>>;
      await once(child, "message");
    }
  };
  const { port } = await next("port");
  return {
    next,
    post: async () => {
      const { headers, rawBody } = signed(completedBody());
      const url = `http://127.0.0.1:${port}/payments/webhook`;
      return (await fetch(url, { method: "POST", headers, body: rawBody })).status;
    },
    ledger: async () => {
      child.send("ledger");
      return (await next("ledger")).ledger;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
      running.delete(child);
    },
  };
}

async function seed(): Promise<void> {
  const store = sqliteStore(path.join(folder, "shop.db"));
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  await store.close?.();
}

describe("a process that is killed", () => {
  it("after its 200, in the handler's open transaction, makes one effect after its restart", async () => {
    await seed();
    const first = await startShop("slow");
    expect(await first.post()).toBe(200);
    await first.next("handling");
    await first.kill();

    const second = await startShop("fast");
    const { attempt } = await second.next("handling");
    expect(attempt).toBe(2);
    expect(await second.post()).toBe(200);
    const ledger = await second.ledger();
    expect(ledger).toHaveLength(1);
    expect(ledger[0]).toMatchObject({ reference: "order-1", attempt: 2 });
    await second.kill();
  });

  it("after the handler's commit does not run the handler again", async () => {
    await seed();
    const first = await startShop("fast");
    expect(await first.post()).toBe(200);
    await first.next("handling");
    expect(await first.ledger()).toHaveLength(1);
    await first.kill();

    const second = await startShop("fast");
    expect(await second.post()).toBe(200);
    expect(await second.ledger()).toMatchObject([{ attempt: 1 }]);
    await second.kill();
  });
});
