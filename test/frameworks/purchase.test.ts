import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { examples, ExampleShop, missing } from "./example-shop.js";

interface Program {
  file: string;
  /** A function runs behind a stand-in for its gateway. */
  command: string[];
  /** Where the router is mounted. @default "/payments" */
  mount?: string;
  /** Its folder below `examples/frameworks`. @default the folder itself */
  cwd?: string;
}

const helpers = ["express-app.mjs", "invoke.mjs"];
const node = process.execPath;

function commandOf(file: string): string[] {
  if (file === "bun.mjs") return [path.join(examples, "node_modules/@oven/bun-linux-x64/bin/bun"), file];
  return file.startsWith("serverless") ? [node, "invoke.mjs", `./${file}`] : [node, file];
}

const programs: Program[] = [
  { file: "smallest/server.mjs", command: [node, "../smallest/server.mjs"], mount: "" },
  ...readdirSync(examples)
    .filter((file) => file.endsWith(".mjs") && !helpers.includes(file))
    .map((file) => ({ file: `frameworks/${file}`, command: commandOf(file) })),
  {
    file: "frameworks/next, with route handlers",
    command: [node, "../node_modules/next/dist/bin/next", "dev"],
    cwd: "next",
  },
  { file: "frameworks/next/server.mjs", command: [node, "server.mjs"], cwd: "next" },
];

const reason = missing() ?? missing("next") ?? missing("@oven/bun-linux-x64");
if (reason !== undefined) {
  it(`leaves the purchase behind each framework out, because ${reason}`, () => {
    expect(missing() ?? missing("next") ?? missing("@oven/bun-linux-x64")).toBe(reason);
  });
} else {
  describe.each(programs)("in examples/$file", ({ command, mount = "/payments", cwd = "" }) => {
    let shop: ExampleShop;

    beforeAll(async () => {
      shop = new ExampleShop(mount);
      await shop.prepare();
      // Its bundler follows links only inside of its root, and the packages of this test are links.
      if (cwd === "next")
        writeFileSync(
          path.join(shop.folder, "frameworks/next/next.config.mjs"),
          `export default { serverExternalPackages: ["tillkit"], turbopack: { root: "/" } };`,
        );
      await shop.start(command[0]!, command.slice(1), cwd);
    });
    afterAll(() => shop.stop());

    it("an order is paid: the webhook, the handler and the return page", async () => {
      const successUrl = await shop.buy("order-1");
      const [payment] = shop.sandbox.payments();

      const before = await fetch(successUrl, { headers: { "accept-language": "fr" } });
      expect(before.status).toBe(200);
      expect(before.headers.get("content-language")).toBe("fr");
      expect(await (await fetch(`${successUrl}/state`)).json()).toMatchObject({ state: "confirming" });

      expect(await shop.sandbox.pay(payment!.clientId)).toMatchObject([{ status: 200 }]);
      await shop.until("the handler ran", () => shop.output.includes("order-1 is paid"));
      expect(await (await fetch(`${successUrl}/state`)).json()).toMatchObject({ state: "paid" });
      expect(await (await fetch(successUrl)).text()).toContain("Payment received");
    });

    it("a forged webhook is refused, and a forged return address shows the page for it", async () => {
      const forged = await fetch(`${shop.url}${mount}/webhook`, {
        method: "POST",
        headers: { "content-type": "application/json", "service-signature": "00".repeat(32) },
        body: JSON.stringify({ topic: "payment.completed" }),
      });
      expect(forged.status).toBe(401);
      const page = await fetch(`${shop.url}${mount}/success/forged~token`);
      expect(page.status).toBe(404);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    });
  });
}
