import { createHmac } from "node:crypto";
import express, { type Express, type Request, type Response } from "express";
import { captureRawBody, fieldsSignature, hmacSignature, paymentRouter } from "tillkit";
import { closeAll, secret, serve, testKit } from "../../support/kit.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";
import { type Examined } from "./planted-shop.js";

const folder = temporaryFolder();
afterEach(closeAll);

const hmac = (bytes: Buffer | string) => createHmac("sha256", secret).update(bytes).digest("hex");

/** Returns an app without the kit, with this check of the signature. */
function appByHand(
  verify: (req: Request) => boolean,
  handle = (_req: Request, res: Response) => res.sendStatus(204),
): Express {
  const app = express();
  app.use(express.raw({ type: "application/json" }));
  app.post("/hooks/pay", (req, res) => void (verify(req) ? handle(req, res) : res.sendStatus(401)));
  return app;
}

async function examine(app: Express, ...argv: string[]) {
  const url = await serve(app);
  const ran = await runCli(["doctor", ...argv.map((one) => one.replace("{url}", url)), "--json"], {
    env: { PAY_SECRET: secret },
  });
  const document: Examined = documentOf(ran);
  return { ...document, code: ran.code, codes: document.findings.map(({ code }) => code) };
}

const inside = ["--webhook", "{url}/hooks/pay", "--secret-env", "PAY_SECRET"];
const outside = ["--webhook", "{url}/hooks/pay", "--outside"];

describe("tillkit doctor, on apps written without tillkit", () => {
  it("finds nothing in one that verifies the bytes that arrived", async () => {
    const app = appByHand((req) => req.get("service-signature") === hmac(req.body));
    expect(await examine(app, ...inside)).toMatchObject({
      code: 0,
      findings: [],
      looked: expect.arrayContaining([expect.stringContaining("/hooks/pay, an app without tillkit")]),
    });
    const seen = await examine(app, ...outside);
    expect(seen).toMatchObject({ code: 0, findings: [] });
    expect(seen.skipped.join()).toContain("correctly signed webhooks (--outside)");
  });

  it("signs with the secret of a file, another algorithm, and the fields that it is told", async () => {
    const file = folder.write("secret.txt", `${secret}\n`);
    const app512 = appByHand(
      (req) => req.get("service-signature") === createHmac("sha512", secret).update(req.body).digest("hex"),
    );
    const webhook = ["--webhook", "{url}/hooks/pay", "--secret-file", file];
    expect(await examine(app512, ...webhook, "--algorithm", "sha512")).toMatchObject({
      code: 0,
      findings: [],
    });
    const fields = ["id", "clientId", "status", "total.value", "total.currency"] as const;
    const scheme = fieldsSignature({ secret, fields });
    const byFields = appByHand((req) => {
      const headers = { "service-signature": req.get("service-signature") };
      try {
        return scheme.verify({ rawBody: req.body as Buffer, headers }) === true;
      } catch {
        return false;
      }
    });
    const options = ["--scheme", "fields", "--fields", fields.join(",")];
    expect(await examine(byFields, ...webhook, ...options)).toMatchObject({ code: 0, findings: [] });
  });

  it("names the header that it was not told about", async () => {
    const app = appByHand((req) => req.get("x-signature") === hmac(req.body));
    expect(await examine(app, ...inside)).toMatchObject({
      code: 1,
      findings: [
        {
          code: "scheme_differs",
          message: expect.stringContaining("with --header X-Signature, the webhook is accepted"),
        },
      ],
    });
    expect(await examine(app, ...inside, "--header", "X-Signature")).toMatchObject({ code: 0, findings: [] });
  });

  it.each<[string, string, (req: Request) => boolean]>([
    [
      "scheme_differs",
      "with the algorithm sha512",
      (req) => req.get("service-signature") === createHmac("sha512", secret).update(req.body).digest("hex"),
    ],
    [
      "scheme_differs",
      "with --header X-Webhook-Signature",
      (req) => req.get("x-webhook-signature") === hmac(req.body),
    ],
    [
      "secret_differs",
      "with the secret of PAY_SECRET",
      (req) => req.get("service-signature") === hmac(req.body),
    ],
  ])("finds %s, because it is accepted %s", async (code, accepted, verify) => {
    const other = folder.write("other.txt", `other-${secret}`);
    const more = code === "secret_differs" ? ["--secret-file", other] : [];
    const { codes, findings } = await examine(appByHand(verify), ...inside, ...more);
    expect(codes).toEqual([code]);
    expect(findings[0]!.message).toContain(`${accepted}, the webhook is accepted`);
  });

  it("finds one that verifies nothing, also from outside", async () => {
    const app = appByHand(() => true);
    for (const argv of [inside, outside])
      expect(await examine(app, ...argv)).toMatchObject({ code: 1, codes: ["signature_not_checked"] });
  });

  it("finds one that verifies only if there is a signature", async () => {
    const app = appByHand((req) => {
      const signature = req.get("service-signature");
      return signature === undefined || signature === hmac(req.body);
    });
    const { codes, findings } = await examine(app, ...outside);
    expect(codes).toEqual(["signature_not_checked"]);
    expect(findings[0]!.message).toContain("without a signature");
  });

  it("finds one that verifies JSON that it wrote itself", async () => {
    const app = appByHand(
      (req) => req.get("service-signature") === hmac(JSON.stringify(JSON.parse(String(req.body)))),
    );
    expect((await examine(app, ...inside)).codes).toEqual(["raw_body_rewritten"]);
  });

  it("finds one that refuses unknown topics", async () => {
    const app = appByHand(
      (req) => req.get("service-signature") === hmac(req.body),
      (_req, res) => res.sendStatus(422),
    );
    expect(await examine(app, ...inside)).toMatchObject({ code: 0, codes: ["unknown_topic_refused"] });
  });

  it("reports a header of another name as another secret", async () => {
    const app = appByHand((req) => req.get("x-pay") === hmac(req.body));
    expect((await examine(app, ...inside)).codes).toEqual(["secret_differs"]);
    expect((await examine(app, ...inside, "--header", "X-Pay")).codes).toEqual([]);
  });
});

describe("tillkit doctor, on apps with tillkit and other middleware", () => {
  it("finds nothing if a parser keeps the bytes, and headers are set for all pages", async () => {
    const app = express();
    app.set("trust proxy", true);
    app.use((_req, res, next) => {
      res.set({ "Content-Security-Policy": "default-src 'self'", "Strict-Transport-Security": "max-age=1" });
      next();
    });
    app.use((req, res, next) => (req.secure ? next() : res.redirect(301, `https://shop.example${req.url}`)));
    app.use(express.json({ verify: captureRawBody }));
    app.use("/payments", paymentRouter(testKit()));
    const seen = await examine(app, "--url", "{url}/payments", "--secret-env", "PAY_SECRET");
    expect(seen).toMatchObject({ code: 0, findings: [] });
  });

  it("finds a public address that leads to another app, to a limit of requests, or nowhere", async () => {
    const other = testKit({ signature: hmacSignature({ secret: `other-${secret}` }) });
    const elsewhere = express().use("/payments", paymentRouter(other));
    const limited = express().use((_req, res) => void res.sendStatus(429));
    const app = express().use("/payments", paymentRouter(testKit()));
    const codesOf = async (address: string) => {
      const argv = ["--url", "{url}/payments", "--public-url", `${address}/payments`];
      return (await examine(app, ...argv, "--secret-env", "PAY_SECRET")).codes;
    };
    expect(await codesOf(await serve(elsewhere))).toEqual(["public_url_wrong"]);
    expect(await codesOf(await serve(limited))).toEqual(["webhook_throttled"]);
    expect(await codesOf("http://127.0.0.1:1")).toEqual(["public_url_unreachable"]);
  });

  it("accepts the webhook's address as --url, and finds pages that were changed on their way", async () => {
    const app = express();
    // Like a proxy that counts visitors.
    app.use((req, res, next) => {
      const [writeHead, end] = [res.writeHead.bind(res), res.end.bind(res)];
      if (req.method === "GET") {
        res.writeHead = ((
          status: number,
          { "Content-Length": _, ...headers }: Record<string, unknown> = {},
        ) => writeHead(status, headers as never)) as never;
        res.end = ((page: Buffer) =>
          end(page.toString().replace("</title>", "</title><script src=//x></script>"))) as never;
      }
      next();
    });
    app.use("/payments", paymentRouter(testKit()));
    const { codes } = await examine(app, "--url", "{url}/payments/webhook/", "--secret-env", "PAY_SECRET");
    expect(codes).toEqual(["return_page_altered", "return_page_altered"]);
  });
});
