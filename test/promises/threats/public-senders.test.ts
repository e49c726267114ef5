import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { until } from "../processes/members.js";
import { closeAll } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { converse, headOf, openEndpoint, readAnswer, type Endpoint } from "./endpoint.js";

afterEach(closeAll);

const { rawBody, headers } = signed(completedBody());
const signature = `Service-Signature: ${headers["service-signature"]}`;
const announced = headOf([`Content-Length: ${rawBody.length}`, signature]);
const chunked = headOf(["Transfer-Encoding: chunked", signature]);
const start = rawBody.toString().slice(0, 40);

/** Short enough for a test, and long enough for an honest webhook on a busy machine. */
const bodyTimeoutMs = 400;
const openKit = () => openEndpoint({ webhook: { bodyTimeoutMs } });

const silent: [string, string][] = [
  ["no byte of the announced body", announced],
  ["half of a body", announced + start],
  ["all but one byte", announced + rawBody.toString().slice(0, -1)],
  ["a chunk, and never the last one", `${chunked}28\r\n${start}\r\n`],
  ["the length of a chunk, and no chunk", `${chunked}28\r\n`],
  [
    "an Expect header, and nothing after the answer",
    announced.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"),
  ],
];

it.each(silent)("Slow or half-open senders: %s is answered 408, closed and counted", async (_, bytes) => {
  const kit = await openKit();
  const from = performance.now();
  const said = await converse(kit.url, bytes);
  const { status, headers, text } = readAnswer(said.replace("HTTP/1.1 100 Continue\r\n\r\n", ""));
  expect([status, headers["connection"], text]).toEqual([408, "close", '{"error":"body_timeout"}']);
  expect(performance.now() - from).toBeGreaterThanOrEqual(bodyTimeoutMs - 5);
  expect(kit.log).toMatchObject([{ code: "body_timeout", res: { status: 408 } }]);
  expect((await kit.payments.health()).rejections).toEqual({ byCode: { body_timeout: 1 }, throttled: 0 });
  await expectHonest(kit);
});

it("Slow or half-open senders: a sender of single bytes reaches the same limit as a silent sender", async () => {
  const kit = await openKit();
  const socket = connect(Number(kit.url.port), kit.url.hostname);
  let said = "";
  socket.on("data", (data) => (said += data.toString("latin1"))).on("error", () => {});
  socket.write(announced);
  const dripping = setInterval(() => socket.write("{"), 20);
  await closed(socket);
  clearInterval(dripping);
  expect(readAnswer(said).status).toBe(408);
  expect((await kit.payments.health()).rejections.byCode).toEqual({ body_timeout: 1 });
});

it("Slow or half-open senders: the connection of a sender that closes its side in the middle is closed immediately, and counted", async () => {
  const kit = await openEndpoint();
  await converse(kit.url, announced + start, { end: true });
  await until(async () => (await rejectionsOf(kit))["body_incomplete"] === 1, "a count of the broken body");
  expect(await rejectionsOf(kit)).toEqual({ body_incomplete: 1 });
  await expectHonest(kit);
});

it("Slow or half-open senders: a connection that is reset in the middle is only counted", async () => {
  const kit = await openEndpoint();
  const socket = connect(Number(kit.url.port), kit.url.hostname);
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.write(announced + start, () => resolve()));
  socket.resetAndDestroy();
  await until(async () => (await rejectionsOf(kit))["body_incomplete"] === 1, "a count of the broken body");
  expect(await rejectionsOf(kit)).toEqual({ body_incomplete: 1 });
  await expectHonest(kit);
});

it("Slow or half-open senders: an honest webhook beside a hundred of them is answered 200, and all their connections are closed", async () => {
  const kit = await openKit();
  const slow = Array.from({ length: 100 }, () => converse(kit.url, announced + start));
  expect((await kit.post(rawBody, headers)).status).toBe(200);
  const statuses = (await Promise.all(slow)).map((said) => readAnswer(said).status);
  expect(statuses).toEqual(Array(100).fill(408));
  expect((await kit.payments.health()).rejections.byCode).toEqual({ body_timeout: 100 });
});

it("Slow or half-open senders: the example sets the server's own time limits to the documented values", () => {
  const read = (file: string) => readFileSync(path.resolve(__dirname, "../../..", file), "utf8");
  const settings = (text: string) =>
    [
      ...text.matchAll(
        /\b(headersTimeout|requestTimeout|keepAliveTimeout|maxConnections|connectionsCheckingInterval)(?: =|:) (\d[\d_]*)/g,
      ),
    ]
      .map((match) => `${match[1]} ${match[2]}`)
      .toSorted();
  const documented = settings(read("docs/operations.md"));
  expect(documented).toHaveLength(5);
  expect(settings(read("examples/express-shop/src/server.ts"))).toEqual(documented);
});

async function rejectionsOf(kit: Endpoint): Promise<Readonly<Record<string, number>>> {
  return (await kit.payments.health()).rejections.byCode;
}

async function expectHonest(kit: Endpoint): Promise<void> {
  expect(kit.webhooks()).toEqual([]);
  expect((await kit.post(rawBody, headers)).status).toBe(200);
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.on("close", () => resolve()));
}
