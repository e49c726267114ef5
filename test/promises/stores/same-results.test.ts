import { attentionRules, MemoryStore, type Payments, type PaymentsOptions } from "tillkit";
import { onEachStore } from "../../operations/attention/each-store.js";
import { testKit } from "../../support/kit.js";
import { testSeed } from "../../support/test-seed.js";
import { signed, statusBody } from "../../support/webhooks.js";

const steps = 120;
const references = [
  "order-1",
  "Order-1",
  "order-1 ",
  "café",
  "cafe\u0301",
  "o%_\\'",
  "😀".repeat(100),
  "x".repeat(200),
];
const clientIds = ["c-1", "C-1", "a".repeat(24), `${"a".repeat(24)}b`, "9".repeat(64), "__proto__", "--"];
const serviceIds = ["S-1", "s-1", "S-1 ", "é".repeat(128)];
const numbers = ["MVK-1", "mvk-1", "MVK-1 ", "50% \\", "😀", "n".repeat(256)];
const totals = [
  { value: "1475", currency: "KMF" },
  { value: "1475.00", currency: "KMF" },
  { value: "9999999999999999", currency: "KMF" },
  { value: "10.50", currency: "EUR" },
];
const metadata = [{}, { a: [[], {}], "": null }, { text: "\u0000 \\u0000 é e\u0301 '\"`" }];
const statuses = ["completed", "completed", "completed", "failed", "cancelled", "pending", "refunded"];
const times = [1, 999, 1000, 60_000, 300_001, 900_001, 86_400_001];
const people = ["Amina", "amina", "Saïd 😀 % _ \\ '"];

/** A seeded generator (mulberry32). Equal seeds give equal runs. */
function randomFrom(seed: number) {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, of: <T>(list: readonly T[]): T => list[below(list.length)]! };
}

/** Replaces what is random by nature. Entries of one time may come in any order. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (key === "returnKeyHash" || key === "sha256" || key === "cursor") return "random";
    return inner instanceof Error ? { ...(inner as object), message: inner.message } : inner;
  });
  const uuid = /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;
  return JSON.parse(text?.replaceAll(uuid, "id").replaceAll(/inadmissible:[\w-]{43}/g, "digest") ?? "null");
}

/** Plays the sequence of a seed, and returns the result of each step: what it resolved to, or its error. */
async function play(seed: number, open: (options: Partial<PaymentsOptions>) => Payments): Promise<unknown[]> {
  const { below, of } = randomFrom(seed);
  let now = Date.parse("2031-01-10T10:00:00.000Z");
  const tokens: string[] = [];
  const made: string[] = [];
  const receipts: string[] = [];
  let answer = 0;
  let offered = "";
  const fetch = async (_: unknown, { body }: RequestInit = {}): Promise<Response> => {
    const { purchase, successUrl } = JSON.parse(body as string) as { purchase: object; successUrl: string };
    tokens.push(successUrl.split("/").at(-1)!);
    if (answer === 0) return Response.json({ title: "No." }, { status: 422 });
    if (answer === 1) throw new TypeError("fetch failed");
    const id = answer > 4 || made.includes(offered) ? `svc-${tokens.length}` : offered;
    made.push(id);
    const data = { id, status: "pending", purchase, billing: { submitUrl: "https://pay.invalid/1" } };
    return Response.json({ data }, { status: 201 });
  };
  const service = { baseUrl: "https://pay.invalid", accessToken: "a-token", fetch };
  const payments = open({ service, dispatch: false, now: () => new Date(now) });
  const person = () => ({ by: of(people), reason: of(["because", "é".repeat(1000)]) });
  // What this process alone knows, such as a server without fsync, is no result of the store.
  const rule = attentionRules.filter((one) => one !== "health");
  const query = { rule, snoozed: true, settled: true, limit: 200 };
  const entries = async () => (await payments.attention(query)).entries;
  const actions: (() => unknown)[] = [
    () => {
      [answer, offered] = [below(12), of(serviceIds)];
      const clientId = below(2) ? of(clientIds) : undefined;
      return payments.create({
        reference: of(references),
        total: of(totals),
        clientId,
        metadata: of(metadata),
      });
    },
    async () => {
      const [clientId, status, isOwn, isWrong] = [of(clientIds), of(statuses), below(4), below(8)];
      const [given, id, providerId] = [of(totals), of([...serviceIds, "new"]), of(numbers)];
      const stored = await payments.find(clientId);
      const total = isOwn && stored ? stored.total : given;
      const data = { clientId, providerId, total, id: isOwn ? (stored?.serviceId ?? id) : id };
      const receipt = await payments.receiveWebhook(signed(isWrong ? statusBody(status, data) : "{}"));
      receipts.push(receipt.receiptId);
      return receipt;
    },
    () => {
      const [kind, token, visit] = [of(["success", "cancel"] as const), of(tokens) ?? "none", below(5) > 0];
      return payments.handleReturn({ kind, token, visit });
    },
    () => payments.sweep(),
    () => {
      const serviceId = below(2) ? of(serviceIds) : undefined;
      return payments.adopt({
        clientId: of(clientIds),
        reference: of(references),
        total: of(totals),
        serviceId,
      });
    },
    () => {
      const action = of(["accept", "dismiss", "refunded"] as const);
      const which =
        below(2) && action !== "refunded" ? { receiptId: of(receipts) } : { clientId: of(clientIds) };
      return payments.resolve({ action, ...which, ...person() });
    },
    async () => {
      const open = await entries();
      const [entry, action] = [of(open), of(["assign", "note", "settle"] as const)];
      return entry && payments.attend(entry.id, { action, ...person() });
    },
    () => payments.list({ providerId: of(numbers) }),
    () => payments.list({ reference: of(references), first: of(["newest", "oldest"] as const) }),
    async () => {
      const { entries: all, ...rest } = await payments.history(of(clientIds));
      return {
        ...rest,
        entries: all.map((one) => JSON.stringify(plain(one), Object.keys(one).toSorted())).toSorted(),
      };
    },
  ];
  const results: unknown[] = [];
  for (let step = 0; step < steps; step++) {
    now += of(times);
    const action = actions[Math.min(below(16), below(16), 9)]!;
    results.push(
      plain(
        await Promise.resolve()
          .then(action)
          .catch((error: unknown) => error),
      ),
    );
  }
  results.push(plain(await payments.list({ limit: 500 })), plain(await entries()));
  return results;
}

onEachStore("equal results", (bench) => {
  it("is a store whose payments, entries, histories and errors are those of a store in memory", async () => {
    const seed = testSeed();
    const expected = await play(seed, (options) =>
      testKit({ store: new MemoryStore(), spool: false, ...options }),
    );
    const got = await play(seed, (options) => bench.shop(options));
    for (const [step, result] of got.entries())
      expect({ seed, step, result }).toEqual({ seed, step, result: expected[step] });
  });
});
