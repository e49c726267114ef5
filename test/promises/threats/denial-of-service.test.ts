import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { until } from "../processes/members.js";
import { buildKit } from "../../support/built-kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { headOf } from "./endpoint.js";
import { killAll, startSenders, startServer } from "./load/children.js";

let kit: string;
beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));
afterEach(killAll);

const signature = `Service-Signature: ${"0".repeat(64)}`;
const limitBytes = 64 * 1024;
const mib = 1024 * 1024;

/** Nothing here is about speed: only what hangs reaches this limit. */
const limitMs = 300_000;
jest.setTimeout(limitMs);

describe("memory", () => {
  it("for each of 400 bodies just under the limit is at most twice the limit", async () => {
    const { port, server } = await startServer(kit, { limitBytes, bodyTimeoutMs: limitMs });
    const before = await server.ask("memory");
    const count = 400;
    const head = headOf([`Content-Length: ${limitBytes}`, signature]);
    const senders = startSenders({ port, count, head, first: "x".repeat(limitBytes - 1) });
    await senders.next("ready");
    const held = async () => ((await server.ask("memory")).bytes - before.bytes) / count;
    // Until the process has read all bytes from the kernel, it holds less than it will hold.
    await until(async () => (await held()) > limitBytes * 0.9, "all bodies read", limitMs);
    expect(await held()).toBeLessThan(2 * limitBytes);
    await senders.kill();
    await until(async () => (await held()) < limitBytes / 4, "all memory freed", limitMs);
  });

  it("A body in one-byte chunks, held open: takes at most 4 × the limit of memory for a connection", async () => {
    const { port, server } = await startServer(kit, { limitBytes, bodyTimeoutMs: limitMs });
    const before = await server.ask("memory");
    const count = 20;
    const bytesSent = 60_000;
    const head = headOf(["Transfer-Encoding: chunked", signature]);
    const chunk = "1\r\nx\r\n";
    const again = { text: chunk, bytes: bytesSent * chunk.length };
    const senders = startSenders({ port, count, head, first: "", again, times: 1 });
    await senders.next("ready");
    const held = async () => ((await server.ask("memory")).bytes - before.bytes) / count;
    await until(async () => (await held()) > bytesSent * 0.9, "all chunks read", limitMs);
    const perConnection = await held();
    process.stdout.write(
      `A body of ${bytesSent} chunks of one byte: ${(perConnection / 1024).toFixed(0)} KiB for a connection.\n`,
    );
    expect(perConnection).toBeLessThan(4 * limitBytes);
    await senders.kill();
  });

  it.each([
    ["are announced as too large", headOf(["Content-Length: 1000000000", signature]), "", "x"],
    [
      "come in chunks without an end",
      headOf(["Transfer-Encoding: chunked", signature]),
      "10000\r\n",
      `${"x".repeat(0x10000)}\r\n10000\r\n`,
    ],
  ])(
    "for 400 bodies that %s, with 4 MiB sent of each, stays under their limits",
    async (_, head, first, text) => {
      const { port, server } = await startServer(kit, { limitBytes, bodyTimeoutMs: limitMs });
      const before = await server.ask("memory");
      await server.ask("peak");
      const count = 400;
      const bytes = text.length === 1 ? 0x10000 : text.length;
      const senders = startSenders({ port, count, head, first, again: { text, bytes }, times: 64 });
      const statuses = await senders.next("closed");
      const peak = (await server.ask("peak")).bytes - before.bytes;
      const after = (await server.ask("memory")).bytes - before.bytes;
      process.stdout.write(
        `400 bodies without end: ${(peak / mib).toFixed(1)} MiB at most, ${(after / mib).toFixed(1)} MiB afterwards.\n`,
      );
      // 1,600 MiB were sent. Garbage that is not collected yet may be added to the held bytes.
      expect(peak).toBeLessThan(4 * count * limitBytes);
      expect(after).toBeLessThan(8 * mib);
      expect((await server.ask("rejections")).byCode).toEqual({ body_too_large: count });
      expect(statuses["413"]).toBeGreaterThan(0);
      // A reset may arrive before the answer where the sender continues to write.
      expect(Object.keys(statuses).filter((status) => status !== "413" && status !== "none")).toEqual([]);
    },
  );
});

/** Returns the number of slow connections that two processes of this machine can hold, each one end of them. */
function slowConnections(): number {
  const wanted = 10_000;
  const limit = Number(spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).stdout);
  if (!(limit < wanted + 500)) return wanted;
  process.stdout.write(`Only ${limit - 500} slow connections, because ulimit -n is ${limit}.\n`);
  return limit - 500;
}

describe("slow connections", () => {
  it("by the ten thousand do not prevent the answer 200 to honest webhooks", async () => {
    const { port, server } = await startServer(kit, { bodyTimeoutMs: limitMs });
    const count = slowConnections();
    const senders = startSenders({
      port,
      count,
      head: headOf(["Content-Length: 400", signature]),
      first: "{",
    });
    await senders.next("ready");
    const isHeld = async () => (await server.ask("connections")).count >= count;
    await until(isHeld, "all connections held", limitMs);

    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const sent = Array.from({ length: 400 }, (_, n) => honest(agent, port, n));
    const answers = await Promise.all(sent);
    agent.destroy();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await isHeld()).toBe(true);
    const inOrder = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const at = (share: number) => inOrder[Math.floor(inOrder.length * share)]!.toFixed(1);
    process.stdout.write(
      `Beside ${count} slow connections, ${inOrder.length} honest webhooks: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms.\n`,
    );

    await senders.kill();
    const isCounted = async () => (await server.ask("rejections")).byCode["body_incomplete"] === count;
    await until(isCounted, "every broken connection counted", limitMs);
    await until(async () => (await server.ask("connections")).count === 0, "no connection left", limitMs);
  });
});

/** Sends one genuine webhook. Resolves with its answer and its duration, from its planned start. */
function honest(agent: Agent, port: number, n: number): Promise<{ status: number | undefined; ms: number }> {
  const { headers, rawBody } = signed(completedBody({ clientId: `c-${n}` }));
  return new Promise((resolve, reject) => {
    let from = 0;
    const sending = request(
      { agent, port, host: "127.0.0.1", path: "/payments/webhook", method: "POST", headers },
      (response) => {
        response.resume();
        response.on("end", () => resolve({ status: response.statusCode, ms: performance.now() - from }));
      },
    );
    sending.on("socket", () => (from = performance.now()));
    sending.on("error", reject);
    sending.end(rawBody);
  });
}
