// A contender that verifies webhooks, and makes an event of each copy of one webhook.
import { start as startBare } from "../../bench/contenders/bare.mjs";

export { sign } from "../../bench/contenders/bare.mjs";

export async function start(port) {
  return { ...(await startBare(port)), recordOf: () => ({ events: 32, webhooks: 32, copies: 0 }) };
}
