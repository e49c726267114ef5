import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:net";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { withCorpus } from "../../webhook/message/corpora.js";
import { shapeOf } from "../../support/markup.js";
import { closeWorld, runConcurrently, openWorld, send, type Shop } from "./world.js";

const { token, hash } = makeReturnToken("c-1");
const [clientId, key] = token.split("~") as [string, string];

/** Returns the page without its random parts. */
const steady = (page: string) => page.replace(/nonce="[^"]*"/g, 'nonce=""');
/** An attacker's address, which no redirect or page of the kit may contain. */
const risky = ["location", "set-cookie", "refresh", "content-location", "link"];

describe("strings that break software, in the return addresses", () => {
  withCorpus("naughty-strings", (folder) => {
    const strings: string[] = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8"));
    const encoded = strings.filter((text) => text !== "").map((text) => encodeURIComponent(text));

    let shop: Shop;
    let url: string;
    let notFound: string;
    let genuine: string;
    beforeAll(async () => {
      ({ hmac: shop } = await openWorld());
      url = shop.url;
      await shop.seed([{ returnKeyHash: hash, createdAt: new Date().toISOString() }]);
      notFound = steady((await send(url, { path: "/hmac/success/none" })).body);
      genuine = steady((await send(url, { path: `/hmac/success/${token}` })).body);
    });
    afterAll(closeWorld);

    /** Returns the cases with another status, another page, or a header that redirects. */
    async function othersThan(status: number, page: string, paths: readonly string[]): Promise<string[]> {
      const answers = await runConcurrently(paths, (path) => send(url, { path }));
      return paths.filter((_, index) => {
        const answer = answers[index]!;
        const isSame = answer.status === status && steady(answer.body) === page;
        return !isSame || risky.some((name) => name in answer.headers);
      });
    }

    it("give the 404 page of forged tokens, in place of the token, before it, after it and below it", async () => {
      expect(shapeOf(notFound).length).toBeGreaterThan(10);
      const paths = encoded.flatMap((text) =>
        [
          text,
          `${clientId}~${text}`,
          `${text}~${key}`,
          `${token}${text}`,
          `${text}${token}`,
          `${token}/${text}`,
        ].map((part) => `/hmac/success/${part}`),
      );
      expect(await othersThan(404, notFound, paths)).toEqual([]);
    });

    it("change nothing on a genuine page when they are in the query, as names, values or lists", async () => {
      const paths = encoded.flatMap((text) =>
        [
          text,
          `next=${text}`,
          `token=${text}&token=${text}`,
          `a[${text}]=${text}`,
          `${text}=1&${text}=2`,
        ].map((query) => `/hmac/success/${token}?${query}`),
      );
      expect(await othersThan(200, genuine, paths)).toEqual([]);
    });

    it("get only the answers 400 and 404 when they are sent unescaped, and change nothing", async () => {
      const plain = strings.filter((text) => text !== "" && text !== "state");
      const lines = await runConcurrently(plain, (text) => firstLine(url, `/hmac/success/${text}x`), 8);
      const statuses = new Set(lines.map((line) => /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]));
      expect(statuses).toEqual(new Set(["400", "404"]));
      const { status, body } = await send(url, { path: `/hmac/success/${token}` });
      expect([status, steady(body)]).toEqual([200, genuine]);
    });

    it("can only change the language when they are in a header", async () => {
      const printable = strings.filter((text) => /^[ -~]*$/.test(text));
      const answers = await runConcurrently(printable, (text) =>
        send(url, {
          path: `/hmac/success/${token}`,
          headers: {
            "accept-language": text,
            purpose: text,
            "sec-purpose": text,
            referer: text,
            cookie: text,
          },
        }),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${shapeOf(body).length}`)).size).toBe(1);
      expect(answers[0]!.status).toBe(200);
    });
  });
});

/** Returns the status line of a request whose path is sent without escaping, which no HTTP client does. */
function firstLine(url: string, path: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n`),
    );
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", (data) => (answer += data));
    socket.on("close", () => resolve(answer.split("\r\n")[0]!));
    socket.on("error", reject);
  });
}
