import express, { type RequestHandler } from "express";
import { fieldsSignature, hmacSignature, MemoryStore, paymentRouter, type SigningScheme } from "tillkit";
import { closeAll, serve, testKit } from "../../support/kit.js";
import { signed, statusBody } from "../../support/webhooks.js";

afterEach(closeAll);

const [older, newer, stranger] = [
  "whsec_old_4b7a1d8e3f605c9b2a7d4e1f8c3b9f2c",
  "whsec_new_1f8c3b9f2c4b7a1d8e3f605c9b2a7d4e",
  "whsec_who_605c9b2a7d4e1f8c3b9f2c4b7a1d8e3f",
] as const;

type SchemeOf = (secret: string | string[]) => SigningScheme;
const schemes: [string, SchemeOf][] = [
  ["hmacSignature", (secret) => hmacSignature({ secret })],
  ["fieldsSignature", (secret) => fieldsSignature({ secret, merchantId: "m-1" })],
];

/** Deploys one process after the other with one store and one address, like a rolling deployment. */
async function deployable(schemeOf: SchemeOf) {
  const store = new MemoryStore();
  let current: RequestHandler;
  const deploy = (secret: string | string[]) => {
    const kit = testKit({ store, signature: schemeOf(secret), webhook: { failures: false } });
    current = paymentRouter(kit) as RequestHandler;
  };
  const app = express().use("/payments", (request, response, next) => void current(request, response, next));
  const address = `${await serve(app)}/payments/webhook`;
  let count = 0;
  const post = async (secret: string): Promise<number> => {
    const body = statusBody("submitted", { clientId: `c-${(count += 1)}` });
    const { headers, rawBody } = signed(body, schemeOf(secret));
    const answer = await fetch(address, { method: "POST", headers, body: rawBody });
    await answer.arrayBuffer();
    return answer.status;
  };
  return { deploy, post };
}

/** Sends concurrently and without a pause until `stop`. `done` resolves after this many further answers. */
function sendContinuously(send: () => Promise<void>, concurrency: number) {
  let answers = 0;
  const state = { isStopped: false };
  let waiting: { count: number; resolve: () => void } | undefined;
  const loop = async () => {
    while (!state.isStopped) {
      await send();
      answers += 1;
      if (waiting && answers >= waiting.count) waiting.resolve();
    }
  };
  const loops = Array.from({ length: concurrency }, loop);
  return {
    done: (more: number) => new Promise<void>((resolve) => (waiting = { count: answers + more, resolve })),
    stop: async () => {
      state.isStopped = true;
      await Promise.all(loops);
      return answers;
    },
  };
}

it.each(schemes)(
  "a rotation under load, with %s, refuses no genuine webhook, and refuses a removed secret immediately",
  async (_, schemeOf) => {
    const { deploy, post } = await deployable(schemeOf);
    let issued: string = older;
    let isOut = false;
    const answers = { genuine: new Set<number>(), strange: new Set<number>(), taken: new Set<number>() };
    deploy(older);

    const service = sendContinuously(async () => void answers.genuine.add(await post(issued)), 6);
    const forger = sendContinuously(async () => {
      answers.strange.add(await post(stranger));
      // Read before the request is sent. From then on the old secret must be refused.
      const wasOut = isOut;
      const status = await post(older);
      if (wasOut) answers.taken.add(status);
    }, 2);

    await service.done(100);
    deploy([newer, older]);
    await service.done(100);
    issued = newer;
    // Webhooks with the old secret are answered before the merchant removes it.
    await service.done(100);
    deploy(newer);
    isOut = true;
    await Promise.all([service.done(100), forger.done(20)]);

    expect(await service.stop()).toBeGreaterThanOrEqual(400);
    await forger.stop();
    expect(answers).toEqual({
      genuine: new Set([200]),
      strange: new Set([401]),
      taken: new Set([401]),
    });
  },
);

it("the new secret is accepted at every position of the list, and the removed secret is refused", async () => {
  const { deploy, post } = await deployable((secret) => hmacSignature({ secret }));
  for (const secrets of [[newer], [newer, stranger], [stranger, newer], [newer, newer]]) {
    deploy(secrets);
    expect([await post(newer), await post(older)]).toEqual([200, 401]);
  }
});
