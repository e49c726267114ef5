import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import request from "supertest";
import { mismatchLog } from "../../../src/http/webhook/webhook-endpoint.js";
import { appOf, closeAll, testKit } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { collectedLog } from "../collected-log.js";

afterEach(closeAll);

/** Returns a logger, and what it has written about signatures. */
function collected() {
  const { logger, lines } = collectedLog();
  return { logger, written: () => lines.filter(({ msg }) => String(msg).startsWith("the signatures")) };
}

describe("the log of signatures that do not match", () => {
  it("has one sentence with the rate and the command that finds the cause, however many webhooks come", async () => {
    const { logger, written } = collected();
    const app = appOf(testKit({ logger }));
    const { headers, rawBody } = signed(completedBody());
    await request(app).post("/payments/webhook").set(headers).send(rawBody.toString()).expect(200);
    for (const space of [" ", "  ", "   "])
      await request(app)
        .post("/payments/webhook")
        .set(headers)
        .send(rawBody.toString() + space)
        .expect(401);
    const msg = expect.stringMatching(
      /^the signatures of 1 of 2 webhooks in the last \d+ s do not match; .*start the app with TILLKIT_KEEP_REFUSED.*: npx tillkit verify --last /,
    ) as string;
    expect(written()).toMatchObject([
      { msg, level: 40, code: "signature_mismatch", received: 2, mismatched: 1 },
    ]);
  });

  it("has no line for webhooks that are refused for another reason", async () => {
    const { logger, written } = collected();
    const app = appOf(testKit({ logger }));
    const { headers, rawBody } = signed(completedBody());
    const post = (changed: object) =>
      request(app)
        .post("/payments/webhook")
        .set({ ...headers, ...changed })
        .send(rawBody.toString());
    await post({ "service-signature": "none" }).expect(401);
    await post({ "content-encoding": "gzip" }).expect(415);
    await request(app).get("/payments/webhook").expect(405);
    expect(written()).toEqual([]);
  });

  it("counts no webhook of the doctor, so that its wrong signatures do not hide the first real one", async () => {
    const { logger, written } = collected();
    const app = appOf(testKit({ logger }));
    const { headers, rawBody } = signed(completedBody());
    const post = (agent: string, body: string) =>
      request(app)
        .post("/payments/webhook")
        .set({ ...headers, "user-agent": agent })
        .send(body);
    const other = `${rawBody.toString()} `;
    await post("tillkit-doctor", rawBody.toString()).expect(200);
    await post("tillkit-doctor", other).expect(401);
    expect(written()).toEqual([]);
    await post("the service", other).expect(401);
    expect(written()).toMatchObject([{ received: 1, mismatched: 1 }]);
  });

  it("has the command for the directory in which refused webhooks are kept", async () => {
    const { logger, written } = collected();
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-refused-"));
    const keepRefused = path.join(folder, "kept");
    const { headers, rawBody } = signed(completedBody());
    const app = appOf(testKit({ logger, webhook: { keepRefused } }));
    await request(app).post("/payments/webhook").set(headers).send(`${rawBody.toString()} `).expect(401);
    expect(written()).toMatchObject([{ msg: expect.stringContaining(`--kept ${keepRefused}`) as string }]);
    await closeAll();
    rmSync(folder, { recursive: true });
  });

  it("counts what came since the line before, and has at most one line in a minute", () => {
    const { logger, written } = collected();
    let now = 0;
    const count = mismatchLog(logger, undefined, () => now);
    for (now = 0; now <= 120_000; now += 1000) count(now % 10_000 === 0);
    expect(
      written().map(({ msg }) => /\d+ of \d+ webhooks in the last \d+ s/.exec(String(msg))?.[0]),
    ).toEqual(["1 of 2 webhooks in the last 1 s", "54 of 60 webhooks in the last 60 s"]);
  });
});
