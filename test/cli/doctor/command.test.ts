import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import express, { type Request } from "express";
import { fieldsSignature, hmacSignature } from "tillkit";
import { type DoctorCode, doctorFixes } from "../../../src/cli/doctor/findings.js";
import { secret } from "../../support/kit.js";
import { type Examined, openPlantedShop, type Planted } from "./planted-shop.js";

/** Creates the folder of an app with these packages, by their paths below `node_modules`. */
function install(folder: string, packages: Record<string, string>): string {
  const app = path.join(folder, "app");
  mkdirSync(app);
  writeFileSync(path.join(app, "package.json"), '{"name":"app"}');
  for (const [name, version] of Object.entries(packages)) {
    const where = path.join(app, "node_modules", name);
    mkdirSync(where, { recursive: true });
    writeFileSync(path.join(where, "package.json"), JSON.stringify({ version }));
  }
  return app;
}

/** Mistakes that are planted in the example shop, with the code of the finding. */
const planted: Record<string, Planted & { code: DoctorCode }> = {
  "a JSON parser in front of the router": {
    code: "raw_body_consumed",
    front: (app) => app.use(express.json()),
  },
  "a raw body that was parsed and written again": {
    code: "raw_body_rewritten",
    front: (app) =>
      app.use(express.json(), (req: Request & { rawBody?: Buffer }, _res, next) => {
        if (req.body !== undefined) req.rawBody = Buffer.from(JSON.stringify(req.body));
        next();
      }),
  },
  "a secret that is blank in the environment": {
    code: "secret_missing",
    env: { PAY_WEBHOOK_SECRET: " " },
  },
  "a placeholder for a secret": {
    code: "secret_placeholder",
    env: { PAY_WEBHOOK_SECRET: "changeme" },
  },
  "a line break at the end of the secret": {
    code: "secret_padded",
    env: { PAY_WEBHOOK_SECRET: `${secret}\n` },
  },
  "quotes around the secret": {
    code: "secret_padded",
    env: { PAY_WEBHOOK_SECRET: `"${secret}"` },
  },
  "an app that runs with another secret": {
    code: "secret_differs",
    signature: hmacSignature({ secret }),
  },
  "an app that verifies by another scheme": {
    code: "scheme_differs",
    signature: fieldsSignature({ secret, merchantId: "m-7" }),
    env: { PAY_WEBHOOK_SECRET: secret, TILLKIT_MERCHANT_ID: "m-7" },
    options: () => ({ scheme: "hmac" }),
  },
  "a public address with another path than the router": {
    code: "public_url_wrong",
    options: ({ url }) => ({ "public-url": `${url}/pay` }),
  },
  "a public address that is the webhook's": {
    code: "public_url_invalid",
    options: ({ url }) => ({ "public-url": `${url}/payments/webhook` }),
  },
  "a public address on this machine, in production": {
    code: "public_url_local",
    env: { NODE_ENV: "production", PAY_WEBHOOK_SECRET: secret },
    signature: hmacSignature({ secret }),
  },
  "a router that is mounted elsewhere": {
    code: "webhook_not_mounted",
    options: ({ url }) => ({ url: `${url}/pay` }),
  },
  "a page that answers for every address": {
    code: "webhook_not_mounted",
    front: (app) => app.use((_req, res) => void res.send("<!doctype html><title>Shop</title>")),
  },
  "a login in front of everything": {
    code: "webhook_redirected",
    front: (app) => app.use((_req, res) => res.redirect("/login")),
  },
  "a check for a CSRF token in front of the router": {
    code: "webhook_blocked",
    front: (app) =>
      app.use((req, res, next) => {
        if (req.method === "POST" && !req.get("x-csrf-token")) res.status(403).send("invalid csrf token");
        else next();
      }),
  },
  "a limit for bodies, like that of a proxy": {
    code: "webhook_body_limited",
    front: (app) =>
      app.use((req, res, next) => {
        if (Number(req.headers["content-length"]) > 10_240) res.status(413).end();
        else next();
      }),
  },
  "a redirect to https that does not trust the proxy": {
    code: "proxy_not_trusted",
    front: (app) =>
      app.use((req, res, next) => {
        if (req.secure) next();
        else res.redirect(308, `https://shop.example${req.originalUrl}`);
      }),
  },
  "a server that waits only a moment for a body": {
    code: "server_timeout_short",
    front: (app) =>
      app.use((req, res, next) => {
        const announced = Number(req.headers["content-length"] ?? 0);
        if (announced === 0) return next();
        // A small body in one piece is there when its first bytes are: no time is needed to tell them apart.
        req.once("readable", () => {
          if (req.readableLength < Math.min(announced, 1024)) res.status(408).end();
          else setImmediate(next);
        });
      }),
  },
  "a return address behind a login": {
    code: "return_blocked",
    front: (app) => app.get("/payments/cancel/:token", (_req, res) => void res.status(401).send("Password?")),
  },
  "a clock that is an hour late": {
    code: "clock_off",
    front: (app) =>
      app.use((_req, res, next) => {
        res.set("Date", new Date(Date.now() - 3_600_000).toUTCString());
        next();
      }),
  },
  "a database that the app does not use": {
    code: "schema_missing",
    options: ({ folder }) => ({ store: path.join(folder, "other.db") }),
  },
  "a database in memory": {
    code: "store_not_durable",
    options: () => ({ store: ":memory:" }),
  },
  "credentials of the sandbox in production": {
    code: "sandbox_credential_in_production",
    env: { NODE_ENV: "production" },
    options: () => ({ "public-url": undefined }),
  },
  "two copies of the kit": {
    code: "kit_twice",
    options: ({ folder }) => ({
      app: install(folder, {
        express: "5.3.0",
        tillkit: "0.1.0",
        "shop-tools/node_modules/tillkit": "0.0.9",
      }),
    }),
  },
  "an Express that is too old": {
    code: "express_unsupported",
    options: ({ folder }) => ({ app: install(folder, { express: "4.17.3" }) }),
  },
  "a webhook that is answered without verifying": {
    code: "signature_not_checked",
    front: (app) => app.post("/payments/webhook", (_req, res) => void res.sendStatus(200)),
  },
};

describe("tillkit doctor, on the example shop", () => {
  const seen: Record<string, Examined & { code: number; stderr: string }> = {};

  // Four in parallel: most of the time is the pause in a body.
  beforeAll(async () => {
    const waiting = Object.entries({ "nothing at all": {}, ...planted });
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) seen[next[0]] = await look(next[1]);
    };
    await Promise.all([work(), work(), work(), work()]);
  });

  async function look(one: Planted) {
    const shop = await openPlantedShop(one);
    try {
      return await shop.examine();
    } finally {
      await shop.close();
    }
  }

  it("finds nothing if nothing is wrong, and examines everything", () => {
    expect(seen["nothing at all"]).toMatchObject({
      code: 0,
      errors: 0,
      findings: [],
      looked: [
        "the environment (NODE_ENV not set)",
        expect.stringMatching(/\/payments\/webhook, an app with tillkit$/),
        expect.stringMatching(/^the database .*shop\.db$/),
        expect.stringMatching(/^what is installed in .*express-shop$/),
      ],
      skipped: [
        "whether the service accepts the app's credentials: create a payment",
        expect.stringMatching(/^which secret and scheme the service has: /),
      ],
    });
  });

  it("plants more than ten different mistakes", () => {
    expect(new Set(Object.values(planted).map(({ code }) => code)).size).toBeGreaterThan(10);
  });

  it.each(Object.entries(planted))("finds %s, and no other error", (what, { code }) => {
    const found = seen[what]!;
    const errors = found.findings.filter(({ severity }) => severity === "error");
    expect(errors.map((one) => one.code)).toEqual([code]);
    expect(errors[0]!.fix).toBe(doctorFixes[code]);
    expect(found.code).toBe(1);
    expect(found.errors).toBe(1);
    expect(found.findings.length - 1).toBe(found.warnings + found.notes);
  });

  it("prints no secret", () => {
    for (const found of Object.values(seen)) {
      const said = JSON.stringify(found);
      expect(said).not.toContain(secret);
      expect(said).not.toMatch(/sandbox_[0-9a-f]{8}/);
    }
  });
});
