import { createSandbox } from "tillkit/sandbox";
import { Merchant } from "../merchant.js";

describe("a payment that a test creates without an HTTP request", () => {
  it("is paid like any other, with the id that was given", async () => {
    const merchant = await Merchant.open();
    const sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl] });
    const total = { value: "1475", currency: "KMF" };
    sandbox.create({ clientId: "c-1", total, id: "5f0c0ffee0ddba11ca7a1060" });
    expect(() => sandbox.create({ clientId: "c-1", total })).toThrow(
      expect.objectContaining({ code: "sandbox_misused" }),
    );
    const taken = () => sandbox.create({ clientId: "c-2", total, id: "5f0c0ffee0ddba11ca7a1060" });
    expect(taken).toThrow("exists already");
    expect(sandbox.find("c-2")).toBeUndefined();
    const { cancelUrl } = sandbox.create({ clientId: "c-3", total, successUrl: "http://localhost/yes" });
    expect(cancelUrl).toBe("http://localhost/yes");
    const [delivery] = await sandbox.pay("c-1");
    expect(JSON.parse(delivery!.requestBody)).toMatchObject({
      topic: "payment.completed",
      data: { id: "5f0c0ffee0ddba11ca7a1060", clientId: "c-1", total },
    });
    const unnamed = sandbox.create({ clientId: "c-4", total });
    expect(unnamed).toMatchObject({ successUrl: "http://localhost/", cancelUrl: "http://localhost/" });
    await sandbox.close();
    await merchant.close();
  });
});
