import { getEventListeners } from "node:events";
import { postWebhook } from "../../../src/sandbox/webhook/post-webhook.js";
import { localServer } from "../../service/local-server.js";

describe("one attempt to deliver a webhook", () => {
  it("listens for the end of the sandbox while it runs, and not afterwards", async () => {
    const { signal: closing } = new AbortController();
    const listeners = () => getEventListeners(closing, "abort").length;
    const seen: number[] = [];
    const server = await localServer((response) => {
      seen.push(listeners());
      response.writeHead(200).end("noted");
    });
    const limits = { timeoutMs: 2000, closing, allowRemote: false, keepsBody: true };
    const sent = await postWebhook(server.url, { headers: {}, rawBody: Buffer.from("{}") }, limits);
    const unread = { ...limits, keepsBody: false };
    const other = await postWebhook(server.url, { headers: {}, rawBody: Buffer.from("{}") }, unread);
    expect(other).not.toHaveProperty("responseBody");
    await server.close();
    expect(sent).toMatchObject({ status: 200, responseBody: "noted" });
    expect([...seen, listeners()]).toEqual([1, 1, 0]);
  });

  it("is encrypted where the address begins with https", async () => {
    const server = await localServer((response) => void response.end());
    const { signal: closing } = new AbortController();
    const limits = { timeoutMs: 2000, closing, allowRemote: false, keepsBody: true };
    const url = server.url.replace("http:", "https:");
    const sent = await postWebhook(url, { headers: {}, rawBody: Buffer.from("{}") }, limits);
    await server.close();
    expect(sent).toEqual({ error: expect.stringMatching(/ssl|tls/i) });
    expect(server.received).toEqual([]);
  });
});
