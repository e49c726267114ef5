import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSandbox, readScenarioFile, type Scenario } from "tillkit/sandbox";
import { createPayment } from "../create-payment.js";
import { Merchant, status } from "../merchant.js";

const example = path.resolve(__dirname, "../../../examples/scenarios/bad-week.json");

describe("a file of scenarios", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tillkit-scenarios-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function read(text: string): Promise<Scenario[]> {
    const file = path.join(folder, "days.json");
    writeFileSync(file, text);
    return readScenarioFile(file);
  }
  /** Returns the lines of the error, without the path of the test's folder. */
  async function errorLines(text: string): Promise<string[]> {
    const error: Error & { code?: string } = await read(text).then(
      () => new Error("it was read"),
      (reason: Error) => reason,
    );
    expect(error.code).toBe("scenario_file_invalid");
    return error.message.split("\n").map((line) => line.replace(`${path.join(folder, "days.json")}:`, ""));
  }

  it("holds one scenario, or a list, with or without a byte order mark", async () => {
    const day = { name: "a-day", webhooks: [{ times: 3 }] };
    expect(await read(JSON.stringify(day))).toEqual([day]);
    expect(await read(`\uFEFF${JSON.stringify([day, { name: "another" }], undefined, 2)}`)).toEqual([
      day,
      { name: "another" },
    ]);
  });

  it("is refused with the field of every problem", async () => {
    const scenarios = [
      { name: "Market Day", webhooks: [{ delayMs: -1 }, { sign: "badly", dealyMs: 5 }] },
      { about: "No name" },
      { name: "twice", moves: { approved: "completed" } },
      { name: "random" },
      "webhook-never",
    ];
    expect(await errorLines(JSON.stringify(scenarios))).toEqual([
      " [0].name: must be lower-case letters, digits and hyphens.",
      expect.stringMatching(/^ \[0\]\.webhooks\[0\]\.delayMs: /),
      expect.stringMatching(/^ \[0\]\.webhooks\[1\]\.sign: .*"right"\|"wrong"\|"old-secret"\|"missing"/),
      ' [0].webhooks[1]: "dealyMs" is not known. Did you mean delayMs?',
      expect.stringMatching(/^ \[1\]\.name: /),
      expect.stringMatching(/^ \[2\]\.moves\.approved: /),
      " [3].name: must not be random, the name that stands for any scenario.",
      expect.stringMatching(/^ \[4\]: /),
    ]);
    expect(await errorLines('{ "name": "Loud Name" }')).toEqual([expect.stringMatching(/^ name: must be/)]);
  });

  it("may use every answer, field and signature, and any status", async () => {
    const webhooks = [
      ...["amount", "currency", "clientId"].map((field) => ({ change: [field], tamper: [field] })),
      ...["right", "wrong", "old-secret", "missing"].map((sign) => ({ sign })),
      { status: "waiting_for_bank" },
    ];
    const scenarios = [
      { name: "webhooks", webhooks },
      ...["unavailable", "hang", "html"].map((answer) => ({ name: `token-${answer}`, token: { answer } })),
      ...["normal", "error", "hang", "html", "reset"].map((answer) => ({
        name: answer,
        creation: { answer },
      })),
    ];
    expect(await read(JSON.stringify(scenarios))).toEqual(scenarios);
  });

  it.each<[string, (value: number) => object, min: number, max: number]>([
    ["status", (status) => ({ creation: { status } }), 400, 599],
    ["delay", (delayMs) => ({ creation: { delayMs } }), 0, 86_400_000],
    ["number of copies", (times) => ({ webhooks: [{ times }] }), 1, 100],
    ["number of webhooks", (length) => ({ webhooks: Array.from({ length }, () => ({})) }), 0, 50],
    ["length of a text", (length) => ({ about: "x".repeat(length) }), 0, 300],
    ["length of a name", (length) => ({ name: "x".repeat(length) }), 1, 48],
  ])("has limits for the %s", async (_what, scenarioOf, min, max) => {
    const withValue = (value: number) => JSON.stringify({ name: "a-day", ...scenarioOf(value) });
    for (const value of [min, max]) expect(await read(withValue(value))).toHaveLength(1);
    for (const value of min > 0 ? [min - 1, max + 1] : [max + 1])
      expect(await errorLines(withValue(value))).toHaveLength(1);
  });

  it("is refused where a name occurs twice, where the list is empty, and where it is not JSON", async () => {
    expect(await errorLines('[{ "name": "twice" }, { "name": "twice" }]')).toEqual([" a name occurs twice."]);
    expect(await errorLines("[]")).toEqual([" the list is empty."]);
    expect(await errorLines("{ 'name': 'a' }")).toEqual([
      expect.stringMatching(/^ this is not JSON: .*position 2/),
    ]);
  });

  it("that does not exist has its own error code", async () => {
    await expect(readScenarioFile(path.join(folder, "nowhere.json"))).rejects.toMatchObject({
      code: "file_unreadable",
      message: expect.stringContaining("nowhere.json"),
      cause: expect.objectContaining({ code: "ENOENT" }),
    });
  });

  /** Plays every scenario of the example at a merchant that fails sometimes. */
  async function replay(seed: string) {
    const merchant = await Merchant.open();
    const scenarios = await readScenarioFile(example);
    const sandbox = createSandbox({
      scenarios,
      seed,
      now: () => new Date("2030-01-01T00:00:00.000Z"),
      signature: { scheme: "hmac", secret: "sandbox_the-same-secret-in-every-replay" },
      webhookUrls: [merchant.webhookUrl],
    });
    for (const { name } of scenarios) {
      const clientId = `order:${name}`;
      // This creation gets no response: here the payment must only exist.
      if (name === "double-trouble") {
        const { total, ...order } = {
          ...merchant.order(clientId),
          total: { value: "1475", currency: "KMF" },
        };
        sandbox.create({ ...order, total });
      } else await createPayment(sandbox, merchant, clientId);
      merchant.answers.push(status(500));
      const paid = sandbox.pay(clientId);
      await sandbox.clock.advance(60_000);
      await paid;
    }
    const payments = sandbox.payments().map(({ id, status: now, providerId }) => [id, now, providerId]);
    const deliveries = sandbox.deliveries.map(
      ({ durationMs: _, url: __, responseHeaders: ___, ...delivery }) => delivery,
    );
    await sandbox.close();
    await merchant.close();
    return { payments, deliveries };
  }

  it("gives the same ids, bytes, signatures, times and attempts when it is replayed with the same seed", async () => {
    const [first, again, other] = [await replay("Monday"), await replay("Monday"), await replay("Tuesday")];
    expect(first.payments.map(([, now]) => now)).toEqual(["completed", "completed", "completed"]);
    // submitted, approved, completed twice, and retries of attempts that failed or were lost.
    expect(first.deliveries.map(({ attempt, scenario }) => `${scenario} ${attempt}`).toSorted()).toEqual(
      [
        "market-day 1",
        "market-day 1",
        "market-day 1",
        "market-day 1",
        "market-day 2",
        "double-trouble 1",
        "double-trouble 2",
        "double-trouble 3",
        "new-field-old-amount 1",
        "new-field-old-amount 1",
        "new-field-old-amount 2",
      ].toSorted(),
    );
    const byId = ({ deliveries }: typeof first) => deliveries.toSorted((a, b) => a.id.localeCompare(b.id));
    expect(byId(again)).toEqual(byId(first));
    expect(again.payments).toEqual(first.payments);
    expect(other.payments).not.toEqual(first.payments);
  });
});
