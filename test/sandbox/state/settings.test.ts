import request from "supertest";
import { createSandbox, type Sandbox, type SandboxSettings } from "tillkit/sandbox";
import { Merchant, status } from "../merchant.js";

/** One behaviour that the interface document does not define: how a merchant sees it, under which settings. */
interface Choice {
  look: (sandbox: Sandbox, merchant: Merchant) => Promise<unknown>;
  ways: readonly (readonly [Partial<SandboxSettings>, unknown])[];
}

const post = (sandbox: Sandbox, body: object | string, type = "application/json") =>
  request(sandbox.app)
    .post("/v1/payments")
    .set("Authorization", `Bearer ${sandbox.accessToken()}`)
    .set("Content-Type", type)
    .send(body);

/** Returns the topics of the webhooks after this action on a new payment. */
async function topicsAfter(move: "pay" | "cancel" | "fail", sandbox: Sandbox, merchant: Merchant) {
  await post(sandbox, merchant.order("c-1"));
  await sandbox[move]("c-1");
  return merchant.webhooks.map(({ rawBody }): string => JSON.parse(rawBody.toString()).topic);
}

/** Sends five requests that the document does not allow, and returns the status or the explanation of each. */
async function askBadly(sandbox: Sandbox, merchant: Merchant) {
  const { successUrl: _, ...incomplete } = merchant.order("missing");
  const numeric = merchant.order("numeric", { value: 1475 as never, currency: "KMF" });
  const unknown = merchant.order("unknown", { value: "1475", currency: "XYZ" });
  const text = JSON.stringify(merchant.order("not-json"));
  await post(sandbox, merchant.order("again"));
  const answers = [
    await post(sandbox, incomplete),
    await post(sandbox, numeric),
    await post(sandbox, unknown),
    await post(sandbox, merchant.order("again")),
    await post(sandbox, text, "text/plain"),
  ];
  return answers.map(({ status: code, body }) => (code === 400 ? body.detail : code));
}

const choices: Record<keyof SandboxSettings, Choice> = {
  strict: {
    look: askBadly,
    ways: [
      [
        { strict: true },
        [
          "successUrl is missing; it must be an absolute http or https address.",
          'purchase.total.value must be a string such as "1475" or "10.50", not a number.',
          "purchase.total.currency is not a currency of ISO 4217; codes are three letters such as KMF or EUR.",
          "clientId already used. Generate a new one for every payment, also for a second attempt.",
          "Send the body as JSON with Content-Type: application/json.",
        ],
      ],
      [{ strict: false }, [201, 201, 201, 201, 201]],
    ],
  },
  successStatus: {
    look: async (sandbox, merchant) => (await post(sandbox, merchant.order("c-1"))).status,
    ways: [
      [{ successStatus: 200 }, 200],
      [{ successStatus: 201 }, 201],
      [{ successStatus: 202 }, 202],
    ],
  },
  errorBodies: {
    look: async (sandbox) => {
      const { status: code, headers, text } = await post(sandbox, {}).set("Authorization", "Bearer nobodys");
      return [code, headers["content-type"], text.slice(0, 15)];
    },
    ways: [
      [{ errorBodies: "problem" }, [401, "application/json; charset=utf-8", '{"status":401,"']],
      [{ errorBodies: "bare" }, [401, undefined, ""]],
      [{ errorBodies: "html" }, [401, "text/html; charset=utf-8", "<!doctype html>"]],
    ],
  },
  echoClientId: {
    look: async (sandbox, merchant) => (await post(sandbox, merchant.order("c-1"))).body.data.clientId,
    ways: [
      [{ echoClientId: true }, "c-1"],
      [{ echoClientId: false }, undefined],
    ],
  },
  readBack: {
    look: async (sandbox, merchant) => {
      const { body } = await post(sandbox, merchant.order("c-1"));
      const get = (path: string) =>
        request(sandbox.app).get(path).set("Authorization", `Bearer ${sandbox.accessToken()}`);
      return [(await get(`/v1/payments/${body.data.id}`)).status, (await get("/v1/payments")).status];
    },
    ways: [
      [{ readBack: true }, [200, 200]],
      [{ readBack: false }, [404, 405]],
    ],
  },
  readBackBare: {
    look: async (sandbox, merchant) => {
      sandbox.change({ readBack: true });
      const { body } = await post(sandbox, merchant.order("c-1"));
      const get = (path: string) =>
        request(sandbox.app).get(path).set("Authorization", `Bearer ${sandbox.accessToken()}`);
      const { id } = body.data;
      const [one, all] = [(await get(`/v1/payments/${id}`)).body, (await get("/v1/payments")).body];
      return [one.id === id, one.data?.id === id, Array.isArray(all), Array.isArray(all.data)];
    },
    ways: [
      [{ readBackBare: true }, [true, false, true, false]],
      [{ readBackBare: false }, [false, true, false, true]],
    ],
  },
  statuses: {
    look: (sandbox, merchant) => {
      sandbox.change({ statusWebhooks: true });
      return topicsAfter("pay", sandbox, merchant);
    },
    ways: [
      [{ statuses: [] }, ["payment.completed"]],
      [
        { statuses: ["submitted", "captured"] },
        ["payment.submitted", "payment.captured", "payment.completed"],
      ],
    ],
  },
  statusWebhooks: {
    look: (sandbox, merchant) => {
      sandbox.change({ statuses: ["approved"] });
      return topicsAfter("pay", sandbox, merchant);
    },
    ways: [
      [{ statusWebhooks: true }, ["payment.approved", "payment.completed"]],
      [{ statusWebhooks: false }, ["payment.completed"]],
    ],
  },
  cancelWebhook: {
    look: (sandbox, merchant) => topicsAfter("cancel", sandbox, merchant),
    ways: [
      [{ cancelWebhook: true }, ["payment.canceled"]],
      [{ cancelWebhook: false }, []],
    ],
  },
  failureWebhook: {
    look: (sandbox, merchant) => topicsAfter("fail", sandbox, merchant),
    ways: [
      [{ failureWebhook: true }, ["payment.failed"]],
      [{ failureWebhook: false }, []],
    ],
  },
  accessTokenTtlSeconds: {
    look: async (sandbox, merchant) => {
      const { clientId, clientSecret } = sandbox.client;
      const { body } = await request(sandbox.app)
        .post("/oauth/token")
        .type("form")
        .send({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret });
      const use = async (id: string) =>
        (await post(sandbox, merchant.order(id)).set("Authorization", `Bearer ${body.access_token}`)).status;
      const first = await use("c-1");
      await sandbox.clock.advance(90_000);
      return [body.expires_in, first, await use("c-2")];
    },
    ways: [
      [{ accessTokenTtlSeconds: 60 }, [60, 201, 401]],
      [{ accessTokenTtlSeconds: 120 }, [120, 201, 201]],
    ],
  },
  webhookDelayMs: {
    look: async (sandbox, merchant) => {
      await post(sandbox, merchant.order("c-1"));
      const paid = sandbox.pay("c-1");
      await sandbox.clock.advance(100);
      const early = merchant.webhooks.length;
      await sandbox.clock.advance(100_000);
      await paid;
      return [early, merchant.webhooks.length];
    },
    ways: [
      [{ webhookDelayMs: 0 }, [1, 1]],
      [{ webhookDelayMs: 60_000 }, [0, 1]],
    ],
  },
  webhookTimeoutMs: {
    look: async (sandbox, merchant) => {
      sandbox.change({ retryDelaysMs: [] });
      merchant.answers.push(() => {});
      await post(sandbox, merchant.order("c-1"));
      return (await sandbox.pay("c-1"))[0]!.error;
    },
    ways: [
      [{ webhookTimeoutMs: 30 }, "no answer within 30 ms"],
      [{ webhookTimeoutMs: 60 }, "no answer within 60 ms"],
    ],
  },
  retryDelaysMs: {
    look: async (sandbox, merchant) => {
      merchant.answers.push(...Array.from({ length: 9 }, () => status(503)));
      await post(sandbox, merchant.order("c-1"));
      await sandbox.pay("c-1");
      await sandbox.clock.advance(3_600_000);
      return merchant.webhooks.length;
    },
    ways: [
      [{ retryDelaysMs: [] }, 1],
      [{ retryDelaysMs: [1000, 2_000_000] }, 3],
    ],
  },
};

const cases = Object.entries(choices).flatMap(([setting, { look, ways }]) =>
  ways.map(([settings, seen]) => ({ setting, settings, look, seen })),
);

describe("what the document does not define", () => {
  let merchant: Merchant;
  let sandbox: Sandbox;
  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(async () => {
    await sandbox.close();
    await merchant.close();
  });

  it("has a test here for every setting", () => {
    sandbox = createSandbox();
    expect(Object.keys(choices).toSorted()).toEqual(Object.keys(sandbox.settings).toSorted());
  });

  it.each(cases)("follows the option: $settings", async ({ settings, look, seen }) => {
    sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl], ...settings });
    expect(await look(sandbox, merchant)).toEqual(seen);
  });

  it.each(cases)("can be changed at run time: $settings", async ({ settings, look, seen }) => {
    sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl] });
    sandbox.change(settings);
    expect(sandbox.settings).toMatchObject(settings);
    expect(await look(sandbox, merchant)).toEqual(seen);
  });

  it.each<[string, object]>([
    ["a value that is not allowed", { successStatus: 204 }],
    ["a negative delay", { retryDelaysMs: [1000, -1] }],
    ["an unknown status", { statuses: ["lost"] }],
    ["an unknown name", { cancelWebhooks: true }],
  ])("is not changed to %s, and the other settings of the call do not change either", (_what, settings) => {
    sandbox = createSandbox();
    const before = { ...sandbox.settings };
    expect(() => sandbox.change({ readBack: true, ...settings })).toThrow(
      expect.objectContaining({ code: "sandbox_misused" }),
    );
    expect(sandbox.settings).toEqual(before);
  });

  it.each<[Partial<SandboxSettings>, Partial<SandboxSettings>]>([
    [{ accessTokenTtlSeconds: 31_536_000 }, { accessTokenTtlSeconds: 31_536_001 }],
    [{ webhookDelayMs: 86_400_000 }, { webhookDelayMs: 86_400_001 }],
    [{ webhookTimeoutMs: 1 }, { webhookTimeoutMs: 0 }],
    [{ retryDelaysMs: Array<number>(50).fill(1) }, { retryDelaysMs: Array<number>(51).fill(1) }],
  ])("takes values as far as %j, and refuses one beyond with its name", (last, beyond) => {
    sandbox = createSandbox();
    sandbox.change(last);
    expect(sandbox.settings).toMatchObject(last);
    expect(() => sandbox.change(beyond)).toThrow(`${Object.keys(beyond)[0]}: `);
  });

  it("is refused with the names of all values that are not allowed", () => {
    sandbox = createSandbox();
    const wrong = { webhookDelayMs: -1, successStatus: 204 as never };
    expect(() => sandbox.change(wrong)).toThrow(
      /successStatus: .+; webhookDelayMs: |webhookDelayMs: .+; succ/,
    );
  });

  it("keeps its value where undefined is given", () => {
    sandbox = createSandbox({ readBack: true });
    sandbox.change({ readBack: undefined } as never);
    expect(sandbox.settings.readBack).toBe(true);
  });
});
