import request, { type Response } from "supertest";
import { type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { createPayment } from "../create-payment.js";
import { type Merchant } from "../merchant.js";
import { openSandbox } from "../open-sandbox.js";

/** The dashboard of a sandbox with one merchant, as a browser without scripts uses it. Both are closed after the test. */
export class OpenDashboard {
  private constructor(
    readonly sandbox: Sandbox,
    readonly merchant: Merchant,
  ) {}

  static async open(options: SandboxOptions = {}): Promise<OpenDashboard> {
    const { sandbox, merchant } = await openSandbox({ retryDelaysMs: [], ...options });
    return new OpenDashboard(sandbox, merchant);
  }

  /** A page's text, without the places where an address may break. */
  async read(path: string, { status = 200 } = {}): Promise<string> {
    const answer = await request(this.sandbox.app).get(path).expect("Content-Type", /html/).expect(status);
    return answer.text.replaceAll("<wbr />", "");
  }

  /** Sends a form, as the page that it is on would. */
  async send(
    path: string,
    form: string | Record<string, string | string[]> = {},
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return request(this.sandbox.app).post(path).set(headers).type("form").send(form);
  }

  /** Sends a form, and reads the page that it leads to. */
  async does(path: string, form: Record<string, string | string[]> = {}): Promise<string> {
    const answer = await this.send(path, form);
    if (answer.status !== 303) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return this.read(answer.get("Location")!);
  }

  pays(clientId: string, total?: { value: string; currency: string }): Promise<string> {
    return createPayment(this.sandbox, this.merchant, clientId, total);
  }
}
