import request from "supertest";
import { type Sandbox } from "tillkit/sandbox";
import { type Merchant } from "./merchant.js";

/** Creates a payment over HTTP and returns its id. */
export async function createPayment(
  sandbox: Sandbox,
  merchant: Merchant,
  clientId: string,
  total?: { value: string; currency: string },
): Promise<string> {
  const response = await request(sandbox.app)
    .post("/v1/payments")
    .set("Authorization", `Bearer ${sandbox.accessToken()}`)
    .send(merchant.order(clientId, total))
    .expect(201);
  return response.body.data.id;
}
