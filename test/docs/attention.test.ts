import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { attentionRules } from "tillkit";
import { testPayments } from "tillkit/testing";
import { read } from "./documents.js";
import { runBlock } from "./run-block.js";

describe("the page about what needs a person", () => {
  const page = read("docs/attention.md");

  it("has every rule, in the order of the list", () => {
    const table = page.slice(page.indexOf("| Rule |"), page.indexOf("The last two"));
    expect([...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, rule]) => rule)).toEqual([...attentionRules]);
  });

  it("has a handler that tells a chat what opens and what is closed", async () => {
    const said: string[] = [];
    const chat = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        said.push((JSON.parse(body) as { text: string }).text);
        response.end();
      });
    });
    await new Promise<void>((resolve) => chat.listen(0, resolve));
    process.env["CHAT_URL"] = `http://127.0.0.1:${(chat.address() as AddressInfo).port}`;
    try {
      await using shop = await testPayments();
      const { payments, settled } = shop;
      await runBlock("docs/attention.md", 3, { payments });
      payments.onPaymentCompleted(() => {}, { name: "printer" });
      // Registers the handlers.
      await payments.sweep();
      await payments.pauseHandler("printer", { reason: "no paper", by: "Said" });
      await payments.sweep();
      await settled();
      await payments.resumeHandler("printer", { by: "Said" });
      await payments.sweep();
      await settled();
    } finally {
      delete process.env["CHAT_URL"];
      chat.close();
    }
    expect(said).toEqual([
      expect.stringMatching(
        /^attention.opened printer: The handler printer is paused by Said: no paper .*:\ntillkit handlers resume/,
      ),
      "attention.closed printer: The handler printer is paused by Said: no paper",
    ]);
  });
});
