import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { Merchant } from "./merchant.js";

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Opens a merchant, and a sandbox that sends it webhooks. Both are closed after the test. */
export async function openSandbox(
  options: SandboxOptions = {},
): Promise<{ sandbox: Sandbox; merchant: Merchant }> {
  const merchant = await Merchant.open();
  const sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl], ...options });
  opened.push(sandbox, merchant);
  return { sandbox, merchant };
}
