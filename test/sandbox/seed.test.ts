import { createSandbox, type Sandbox } from "tillkit/sandbox";
import { createPayment } from "./create-payment.js";
import { Merchant, status } from "./merchant.js";

describe("the seed", () => {
  let merchant: Merchant;
  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(() => merchant.close());

  /** Creates two payments and pays the first. Its webhook is sent once more for each refusal. */
  async function play(seed: string | undefined, refusals = 0) {
    const sandbox = createSandbox({ seed, webhookUrls: [merchant.webhookUrl] });
    merchant.answers.push(...Array.from({ length: refusals }, () => status(500)));
    const first = await createPayment(sandbox, merchant, "c-1");
    const paid = sandbox.pay("c-1");
    await sandbox.clock.advance(60_000);
    await paid;
    const second = await createPayment(sandbox, merchant, "c-2");
    const { providerId } = sandbox.find("c-1")!;
    const deliveries = sandbox.deliveries.map(({ id }) => id);
    await sandbox.close();
    return { payments: [first, second], providerId, deliveries };
  }

  it("makes the ids of payments, transactions and deliveries repeatable", async () => {
    const [first, again, other] = [await play("a"), await play("a"), await play("b")];
    expect(again).toEqual(first);
    expect(new Set([...first.payments, ...other.payments]).size).toBe(4);
    expect(other.deliveries).not.toEqual(first.deliveries);
    expect(other.providerId).not.toEqual(first.providerId);
  });

  it("gives the next payment the same id, whatever the number of attempts for a webhook", async () => {
    const [accepted, refused] = [await play("a"), await play("a", 3)];
    expect([accepted.deliveries.length, refused.deliveries.length]).toEqual([1, 4]);
    expect(refused.payments).toEqual(accepted.payments);
  });

  it("makes all ids new when it is absent", async () => {
    const [first, again] = [await play(undefined), await play(undefined)];
    expect(new Set([...first.payments, ...again.payments]).size).toBe(4);
  });

  it("draws the same scenarios again, and another seed draws others", () => {
    const drawn = (seed: string) => {
      const sandbox = createSandbox({ seed, scenario: "random" });
      return names(sandbox, 30);
    };
    expect(drawn("a")).toEqual(drawn("a"));
    expect(drawn("a")).not.toEqual(drawn("b"));
    expect(new Set(drawn("a")).size).toBeGreaterThan(5);
    expect(drawn("a")).not.toContain("random");
  });

  it("does not determine secrets or tokens", () => {
    const [a, b] = [createSandbox({ seed: "a" }), createSandbox({ seed: "a" })];
    const secrets = [a, b].flatMap((one) => [one.secret, one.client.clientSecret, one.accessToken()]);
    expect(new Set(secrets).size).toBe(6);
  });
});

/** Creates this number of payments, and returns their scenarios. */
function names(sandbox: Sandbox, count: number): string[] {
  const total = { value: "1475", currency: "KMF" };
  return Array.from(
    { length: count },
    (_each, index) => sandbox.create({ clientId: `c-${index}`, total }).scenario,
  );
}
