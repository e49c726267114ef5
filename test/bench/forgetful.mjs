// A contender that verifies webhooks, and stores none that it acknowledged.
import { start as startBare } from "../../bench/contenders/bare.mjs";

export { sign } from "../../bench/contenders/bare.mjs";

export async function start(port) {
  return { ...(await startBare(port)), completed: () => 0 };
}
