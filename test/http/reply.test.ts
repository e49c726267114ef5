import { type IncomingMessage, type ServerResponse } from "node:http";
import { refuse, replyReceived } from "../../src/http/reply.js";
import { send } from "../promises/corpora/world.js";
import { closeAll, serve } from "../support/kit.js";

afterEach(closeAll);

describe("a refusal", () => {
  it.each([
    [400, undefined, "bad_request", {}],
    [401, undefined, "signature_invalid", {}],
    [405, undefined, "method_not_allowed", { allow: "POST" }],
    [429, 60, "too_many_failures", { "retry-after": "60" }],
    [503, 5, "unavailable", { "retry-after": "5" }],
  ])("with %d has no more headers than its status needs", async (status, retryAfter, error, added) => {
    const url = await serve((request, response) => refuse(request, response, { status, retryAfter }));
    const { headers, ...answer } = await send(url);
    expect(answer).toEqual({ status, body: JSON.stringify({ error }) });
    const { allow, "retry-after": retry } = headers;
    expect({ ...(allow && { allow }), ...(retry && { "retry-after": retry }) }).toEqual(added);
    expect(headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });

  it.each([
    ["that the application has answered", (response: ServerResponse) => void response.writeHead(504).end()],
    ["whose connection is closed", (response: ServerResponse) => void response.destroy()],
  ])("changes no response %s", async (_, prepare) => {
    const seen = new Promise<{ before: number; after: number; headersSent: boolean[] }>((resolve, reject) => {
      const listener = (request: IncomingMessage, response: ServerResponse): void => {
        prepare(response);
        const [before, wereSent] = [response.statusCode, response.headersSent];
        try {
          refuse(request, response, { status: 401, retryAfter: undefined });
        } catch (error) {
          return reject(error);
        }
        resolve({ before, after: response.statusCode, headersSent: [wereSent, response.headersSent] });
      };
      void serve(listener).then((url) => fetch(url).catch(() => {}));
    });
    const { before, after, headersSent } = await seen;
    expect(after).toBe(before);
    expect(headersSent[1]).toBe(headersSent[0]);
  });
});

it("the answer to a received webhook is not cached, and is answered once", async () => {
  const url = await serve((_request, response) => {
    replyReceived(response);
    replyReceived(response);
  });
  const { headers, ...answer } = await send(url);
  expect(answer).toEqual({ status: 200, body: '{"received":true}' });
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": "17",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
});
