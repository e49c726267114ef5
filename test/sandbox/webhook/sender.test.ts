import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createPayment } from "../create-payment.js";
import { status } from "../merchant.js";
import { openSandbox } from "../open-sandbox.js";

const folder = mkdtempSync(path.join(tmpdir(), "tillkit-sender-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a sandbox with a seed repeats no id of an earlier run's webhooks, sent or waiting", async () => {
  const options = { seed: "a seed", state: path.join(folder, "sandbox.db") };
  const { sandbox: first, merchant } = await openSandbox(options);
  await first.start();
  await createPayment(first, merchant, "sent");
  await first.pay("sent");
  await createPayment(first, merchant, "held");
  first.holdWebhooks();
  const held = first.pay("held");
  await first.settled();
  await first.close();
  await held;

  const { sandbox: second } = await openSandbox({ ...options, webhookUrls: [merchant.webhookUrl] });
  await second.start();
  await second.settled();
  for (const clientId of ["new", "newer"]) {
    await createPayment(second, merchant, clientId);
    await second.pay(clientId);
  }
  const ids = second.deliveries.map(({ id }) => id.split("-")[0]);
  expect(second.deliveries.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  // The attempt that the close ended does not count.
  expect(second.deliveries.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  expect(new Set(ids).size).toBe(4);
});

it("a sandbox goes on with the retries of an earlier run, and sends its webhooks again", async () => {
  const options = { state: path.join(folder, "retries.db"), retryDelaysMs: [60_000, 60_000] };
  const { sandbox: first, merchant } = await openSandbox(options);
  await first.start();
  await createPayment(first, merchant, "c-1");
  merchant.answers.push(status(500), status(500));
  await first.pay("c-1");
  await first.clock.advance(60_000);
  await first.close();

  const { sandbox: second } = await openSandbox({ ...options, webhookUrls: [merchant.webhookUrl] });
  await second.start();
  await second.clock.advance(60_000);
  const attempts = second.deliveries.map(({ attempt, status: code }) => [attempt, code]);
  expect(attempts).toEqual([
    [1, 500],
    [2, 500],
    [3, 200],
  ]);
  expect(await second.deliverAgain(second.deliveries[0]!.id)).toMatchObject({ attempt: 4, status: 200 });
  expect(new Set(merchant.webhooks.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
});
