import { PassThrough } from "node:stream";
import { eventLine } from "../../../src/cli/sandbox/event-line.js";
import { createOutput } from "../../../src/cli/terminal/output.js";

const streams = { stdout: process.stdout, stderr: process.stderr, env: { NO_COLOR: "1" } };
const output = createOutput(streams, false);
const at = "2026-11-20T12:00:00.000Z";

it.each([
  [
    "a refused request",
    { type: "refusal", at, refusal: { at, request: "POST /a", status: 404, detail: "a\nforged" } },
  ],
  [
    "a webhook",
    {
      type: "delivery",
      at,
      delivery: {
        requestBody: '{"topic":"a\\nforged"}',
        status: 200,
        attempt: 1,
        durationMs: 1,
        url: "http://localhost",
        at,
      },
    },
  ],
  [
    "a body that is not JSON",
    { type: "delivery", at, delivery: { requestBody: "a\nforged", error: "b\r\nforged", attempt: 1, at } },
  ],
])("the line of %s stays one line, whatever a stranger sends", (_, event) => {
  const line = eventLine(event as never, output);
  expect(line).toContain("\\nforged");
  expect(line.split(/[\r\n]/)).toHaveLength(1);
});

const payment = {
  total: { value: "1475", currency: "KMF" },
  status: "completed",
  clientId: "c-1",
  scenario: "normal",
};
const delivery = {
  requestBody: '{"topic":"payment.completed","data":{"clientId":"c-1"}}',
  status: 200,
  attempt: 1,
  durationMs: 7,
  url: "http://localhost/hook",
  at,
};
const sent = "payment.completed c-1 → http://localhost/hook (7 ms";
const why = "why: npx tillkit verify --last --kept ./refused --env-file .env";

it.each([
  [{ type: "payment.created", payment }, "payment  created    1475 KMF c-1"],
  [{ type: "payment.moved", payment }, "payment  completed  1475 KMF c-1"],
  [
    { type: "payment.moved", payment: { ...payment, scenario: "webhook-late" } },
    "payment  completed  1475 KMF c-1 [webhook-late]",
  ],
  [{ type: "delivery", delivery }, `webhook  200        ${sent})`],
  [{ type: "delivery", delivery: { ...delivery, attempt: 2 } }, `webhook  200        ${sent}, attempt 2)`],
  [{ type: "delivery", delivery: { ...delivery, status: 400 } }, `webhook  400        ${sent}, ${why})`],
  [{ type: "delivery", delivery: { ...delivery, status: 401 } }, `webhook  401        ${sent}, ${why})`],
  [{ type: "delivery", delivery: { ...delivery, status: 500 } }, `webhook  500        ${sent})`],
  [
    { type: "delivery", delivery: { ...delivery, scenario: "webhook-late" } },
    `webhook  200        ${sent}) [webhook-late]`,
  ],
])("the line of an event has all that a person needs: %#", (event, line) => {
  expect(eventLine({ at, ...event } as never, output)).toBe(`12:00:00.000Z ${line}`);
});

it("a line is red unless the payment is completed or the webhook is accepted", () => {
  const stdout = Object.assign(new PassThrough(), { isTTY: true });
  const coloured = createOutput({ stdout, stderr: process.stderr, env: {} }, false);
  const isRed = (event: object) => {
    coloured.print(eventLine({ at, ...event } as never, coloured));
    return String(stdout.read()).includes("\u001b[31m");
  };
  expect(isRed({ type: "payment.moved", payment })).toBe(false);
  expect(isRed({ type: "payment.moved", payment: { ...payment, status: "failed" } })).toBe(true);
  expect(
    [200, 299, 300, 199].map((status) => isRed({ type: "delivery", delivery: { ...delivery, status } })),
  ).toEqual([false, false, true, true]);
});
