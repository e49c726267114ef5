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

  it("is refused with the line and the field of every problem", async () => {
    const text = `[
  {
    "name": "Market Day",
    "webhooks": [
      { "delayMs": -1 },
      { "sign": "badly",
        "dealyMs": 5 }
    ]
  },
  { "about": "No name" },
  { "name": "twice" },
  { "name": "twice", "moves": { "approved": "completed" } },
  { "name": "random" },
  "webhook-never"
]`;
    expect(await errorLines(text)).toEqual([
      "3: [0].name: must be lower-case letters, digits and hyphens.",
      expect.stringMatching(/^5: \[0\]\.webhooks\[0\]\.delayMs: /),
      expect.stringMatching(/^6: \[0\]\.webhooks\[1\]\.sign: .*"right"\|"wrong"\|"old-secret"\|"missing"/),
      "7: [0].webhooks[1].dealyMs: is not a field of a scenario here.",
      expect.stringMatching(/^10: \[1\]\.name: /),
      expect.stringMatching(/^12: \[3\]\.moves\.approved: /),
      "12: [3].name: is already used above.",
      "13: [4].name: must not be random, which draws a scenario for each payment.",
      expect.stringMatching(/^14: \[5\]: /),
    ]);
  });

  it("is refused where a key occurs twice, and where the list is empty", async () => {
    expect(await errorLines(`{\n"name": "a",\n"webhooks": [],\n"webhooks": [{}]\n}`)).toEqual([
      "4: webhooks: occurs twice.",
    ]);
    expect(await errorLines("[]")).toEqual(["1: the list is empty."]);
  });

  it.each([
    ["{\n  'name': 'a' }", `2: this is not JSON: "'name': 'a' " is not expected here.`],
    [`{\n  "name": "a",\n}`, `3: this is not JSON: "}" is not expected here.`],
    [`[{ "name": "a" }\n`, "2: this is not JSON: the end is not expected here."],
    [`{ "name": "a" }\n// why`, `2: this is not JSON: "// why" is not expected here.`],
  ])("is refused where it is not JSON: %j", async (text, said) => {
    expect(await errorLines(text)).toEqual([said]);
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
