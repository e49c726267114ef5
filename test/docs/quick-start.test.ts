import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { orders } from "../package/orders.js";
import { RunningProgram, shopUrl } from "../package/program.js";
import { buildKit } from "../support/built-kit.js";
import { codeBlocks, read } from "./documents.js";

let built: string;
let folder: string;
let shop: RunningProgram | undefined;

beforeAll(() => {
  built = buildKit("esm");
  // Makes "tillkit" the name of the build, for the programs inside of it.
  const exports = { ".": "./index.js", "./sql": "./store/sql/index.js", "./sandbox": "./sandbox/index.js" };
  writeFileSync(
    path.join(built, "package.json"),
    JSON.stringify({ name: "tillkit", type: "module", exports }),
  );
  folder = path.join(built, "quick-start");
  mkdirSync(folder);
  // The README calls it shop.mjs. It has no types, so Node runs it as it stands.
  writeFileSync(path.join(folder, "shop.js"), codeBlocks(read("README.md"))[0]!);
}, 120_000);
afterAll(async () => {
  await shop?.stop();
  rmSync(built, { recursive: true, force: true });
});

describe("the quick start of the README", () => {
  it("sells an order without any variable or file, and says so to the customer", async () => {
    shop = await RunningProgram.start(folder, {});
    const [, action] = /action="([^"]+)"/.exec(await (await fetch(shopUrl)).text())!;
    const reference = action!.replace("/checkout/", "");
    const checkout = await fetch(shopUrl + action!, { method: "POST", redirect: "manual" });
    expect(checkout.status).toBe(303);
    expect(orders(folder, "read").orders).toEqual([{ id: reference, paid: 0 }]);

    const approval = new URLSearchParams({ provider: "MVK", action: "approve" });
    const page = await fetch(checkout.headers.get("location")!, { method: "POST", body: approval });
    expect([page.status, page.url]).toEqual([200, expect.stringContaining(":3000/payments/success/")]);
    await shop.until("marked the order paid", () => orders(folder, "read").orders[0]!.paid === 1);
    expect(await (await fetch(page.url)).text()).toContain('data-state="paid"');
    expect(shop.output).toContain(`Buy something at ${shopUrl.replace("127.0.0.1", "localhost")}`);
  }, 240_000);

  it("fails visibly, and tries again, where the order is missing", async () => {
    const paid = shop!;
    const checkout = await fetch(`${shopUrl}/checkout/lost`, { method: "POST", redirect: "manual" });
    orders(folder, "lose");
    const approval = new URLSearchParams({ provider: "MVK", action: "approve" });
    await fetch(checkout.headers.get("location")!, { method: "POST", body: approval });
    await paid.until("told about the missing order", () => paid.output.includes("There is no order lost."));
    expect(orders(folder, "read").orders).toHaveLength(1);
  }, 240_000);
});
