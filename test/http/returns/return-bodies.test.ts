import { once } from "node:events";
import { connect } from "node:net";
import { MemoryStore, type MemoryTx } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { appOf, closeAll, serve, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

afterEach(closeAll);

const { token, hash } = makeReturnToken("c-1");

async function open(returns: { successUrl?: string } = {}): Promise<string> {
  const store = new MemoryStore();
  const created = [pendingPayment({ returnKeyHash: hash, createdAt: new Date().toISOString() })];
  await store.transaction((tx) => store.save(tx, { created }));
  return serve(appOf(testKit<never, MemoryTx>({ store, returns })));
}

/** Sends a request whose body never ends. Resolves to the head of the answer when the server has closed the connection. */
async function sendUnended(url: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
  socket.on("error", () => {});
  socket.write(`${head}\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`);
  await once(socket, "close");
  return answer.split("\r\n\r\n")[0]!;
}

describe("a return route that gets a body", () => {
  it.each([
    [`GET /payments/success/${token} HTTP/1.1`, "200"],
    [`GET /payments/success/${token}/state HTTP/1.1`, "200"],
    [`GET /payments/cancel/${token}x HTTP/1.1`, "404"],
    [`POST /payments/success/${token} HTTP/1.1`, "405"],
  ])("answers %s, and closes the connection", async (head, status) => {
    const answer = await sendUnended(await open(), head);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/^connection: close$/im);
  });

  it("does so for a redirect", async () => {
    const answer = await sendUnended(
      await open({ successUrl: "/orders/{reference}" }),
      `GET /payments/success/${token} HTTP/1.1`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 303 [^]*^connection: close$/im);
  });

  it("keeps the connection of a browser, which sends none", async () => {
    const { headers } = await fetch(`${await open()}/payments/success/${token}`);
    expect(headers.get("connection")).toBe("keep-alive");
  });
});
