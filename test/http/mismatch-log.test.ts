import { Writable } from "node:stream";
import { pino } from "pino";
import request from "supertest";
import { mismatchLog } from "../../src/http/mismatch-log.js";
import { appOf, closeAll, testKit } from "../support/kit.js";
import { completedBody, signed } from "../support/webhooks.js";

afterEach(closeAll);

/** Returns a logger, and the lines about signatures that it wrote. */
function collected() {
  const lines: string[] = [];
  const take = (line: Buffer, _: unknown, done: () => void) => {
    const { msg } = JSON.parse(line.toString());
    if (msg.startsWith("the signatures")) lines.push(msg);
    done();
  };
  return { logger: pino(new Writable({ write: take })), lines };
}

describe("the log of signatures that do not match", () => {
  it("has one sentence with the rate and the command that finds the cause, however many webhooks come", async () => {
    const { logger, lines } = collected();
    const app = appOf(testKit({ logger }));
    const { headers, rawBody } = signed(completedBody());
    await request(app).post("/payments/webhook").set(headers).send(rawBody.toString()).expect(200);
    for (const space of [" ", "  ", "   "])
      await request(app)
        .post("/payments/webhook")
        .set(headers)
        .send(rawBody.toString() + space)
        .expect(401);
    expect(lines).toEqual([
      expect.stringMatching(
        /^the signatures of 1 of 2 webhooks in the last \d+ s do not match; .*: npx tillkit verify$/,
      ),
    ]);
  });

  it("counts what came since the line before, and has at most one line in a minute", () => {
    const { logger, lines } = collected();
    let now = 0;
    const count = mismatchLog(logger, () => now);
    for (now = 0; now <= 120_000; now += 1000) count(now % 10_000 === 0);
    expect(lines.map((line) => /\d+ of \d+ webhooks in the last \d+ s/.exec(line)?.[0])).toEqual([
      "1 of 2 webhooks in the last 1 s",
      "54 of 60 webhooks in the last 60 s",
    ]);
  });
});
