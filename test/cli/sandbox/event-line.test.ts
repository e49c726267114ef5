import { eventLine } from "../../../src/cli/sandbox/event-line.js";
import { createOutput } from "../../../src/cli/terminal/output.js";

const streams = { stdout: process.stdout, stderr: process.stderr, env: { NO_COLOR: "1" } };
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
  const line = eventLine(event as never, createOutput(streams, false));
  expect(line).toContain("\\nforged");
  expect(line.split(/[\r\n]/)).toHaveLength(1);
});
