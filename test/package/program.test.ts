import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hmacSignature } from "tillkit";
import { createSandbox, type Sandbox } from "tillkit/sandbox";
import { completedBody } from "../support/webhooks.js";
import { orders } from "./orders.js";
import { discard, install, pack, run, type Packed } from "./pack.js";
import { compilerOptions, program, RunningProgram, shopUrl } from "./program.js";

const tsc = join(dirname(require.resolve("@typescript/native/package.json")), "bin/tsc");
const webhookUrl = `${shopUrl}/payments/webhook`;

let packed: Packed;

beforeAll(() => {
  packed = pack();
});
afterAll(() => discard(packed));

describe.each([
  { name: "Express 5", packages: ["express@5.3.0", "@types/express@5"] },
  { name: "Express 4", packages: ["express@4.22.1", "@types/express@4"] },
])("a whole shop with the packed package and $name", ({ name, packages }) => {
  let project: string;

  beforeAll(() => {
    // The README names it for Node before 22.16; where Node has SQLite, it is not used.
    const added = [...packages, "@types/node@20", "@photostructure/sqlite@1.2.1"];
    project = install(packed, name.replace(" ", "-").toLowerCase(), ...added);
  }, 120_000);

  describe.each([
    { kind: "ESM", manifest: { type: "module" } },
    { kind: "CommonJS", manifest: {} },
  ])("as $kind", ({ kind, manifest }) => {
    let folder: string;

    beforeAll(() => {
      folder = join(project, kind);
      mkdirSync(folder);
      writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
      writeFileSync(join(folder, "shop.ts"), program);
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["shop.ts"] }));
    });

    it("compiles without changes, strictly, and with the types of every package", () => {
      expect(run(folder, process.execPath, tsc, "-p", ".")).toBe("");
    });

    it("refuses to start without its secret", () => {
      expect(() => run(folder, process.execPath, "shop.js")).toThrow(
        /signature\.secret: is missing or blank/,
      );
    });

    describe("running", () => {
      let sandbox: Sandbox;
      let shop: RunningProgram;

      beforeAll(async () => {
        sandbox = createSandbox({ webhookUrls: [webhookUrl] });
        await sandbox.start();
        orders(folder, "create");
        shop = await RunningProgram.start(folder, {
          PAY_TOKEN: sandbox.accessToken(),
          PAY_WEBHOOK_SECRET: sandbox.secret!,
          SANDBOX_URL: sandbox.url,
        });
      });
      afterAll(async () => {
        await shop?.stop();
        await sandbox.close();
      });

      /** Posts a webhook about an unknown payment, signed with this secret. */
      const post = (secret: string) => {
        const rawBody = Buffer.from(JSON.stringify(completedBody()));
        const headers = {
          "Content-Type": "application/json",
          "Service-Signature": hmacSignature({ secret }).sign(rawBody),
        };
        return fetch(webhookUrl, { method: "POST", headers, body: rawBody.toString() });
      };

      it("accepts a genuine webhook about an unknown payment", async () => {
        expect((await post(sandbox.secret!)).status).toBe(200);
      });

      it("refuses a forged webhook", async () => {
        expect((await post("a secret that is not the service's")).status).toBe(401);
      });

      it("completes a sale: the customer pays at the service, and the order is marked paid one time", async () => {
        const checkout = await fetch(`${shopUrl}/checkout/42`, { method: "POST", redirect: "manual" });
        expect(checkout.status).toBe(303);
        const checkoutUrl = checkout.headers.get("location")!;
        expect(checkoutUrl).toBe(`${sandbox.url}/payment/submit/${sandbox.payments()[0]!.id}`);
        expect(orders(folder, "read").changes).toEqual([]);

        const approval = new URLSearchParams({ provider: "MVK", action: "approve" });
        const paid = await fetch(checkoutUrl, { method: "POST", body: approval, redirect: "manual" });
        expect(paid.status).toBe(303);
        await sandbox.settled();
        expect(sandbox.deliveries).toMatchObject([{ status: 200 }]);

        await shop.until("marked the order paid", () => orders(folder, "read").changes.length > 0);
        const home = new URL(paid.headers.get("location")!);
        expect(home.href).toMatch(/^https:\/\/shop\.example\/payments\/success\/./);
        expect((await fetch(shopUrl + home.pathname)).status).toBe(200);

        expect((await sandbox.deliverAgain(sandbox.deliveries[0]!.id)).status).toBe(200);
        await shop.stop();
        expect(orders(folder, "read")).toEqual({
          orders: [
            { id: "41", paid: 0 },
            { id: "42", paid: 1 },
          ],
          changes: ["42"],
        });
        expect(shop.output).not.toContain(sandbox.secret!);
      });
    });
  });
});
