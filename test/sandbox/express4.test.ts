import request from "supertest";
import { createSandbox } from "tillkit/sandbox";
import { createPayment } from "./create-payment.js";
import { Merchant } from "./merchant.js";

// The whole sandbox on the other supported major version of Express.
jest.mock("express", () => jest.requireActual<object>("express4"));

describe("on Express 4", () => {
  it("creates, shows, refuses and completes a payment as on Express 5", async () => {
    const merchant = await Merchant.open();
    const sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl] });
    expect(sandbox.app).toHaveProperty("lazyrouter"); // Express 4 has it, Express 5 does not
    const id = await createPayment(sandbox, merchant, "c-1");
    const path = `/payment/submit/${id}`;
    await request(sandbox.app).get(path).expect(200);
    await request(sandbox.app).post(path).expect(400);
    await request(sandbox.app)
      .post(path)
      .type("form")
      .send({ provider: "MVK", action: "approve" })
      .expect(303);
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(1);
    const { clientId, clientSecret } = sandbox.client;
    await request(sandbox.app).post("/oauth/token").expect(400);
    await request(sandbox.app)
      .post("/oauth/token")
      .type("form")
      .send({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret })
      .expect(200);
    const send = (body: string) =>
      request(sandbox.app)
        .post("/v1/payments")
        .set("Authorization", `Bearer ${sandbox.accessToken()}`)
        .set("Content-Type", "application/json")
        .send(body);
    expect((await send("{").expect(400)).body.title).toBe("Not JSON");
    expect((await send("{}").expect(400)).body.title).toBe("Invalid payment");
    expect((await request(sandbox.app).get("/%E0").expect(404)).text).toContain("Payment not found");
    await request(sandbox.app).get("/payment/submit/%E0").expect(400);
    await sandbox.close();
    await merchant.close();
  });
});
