// A contender that verifies, and keeps nothing of what it acknowledged.
import { start as startBare } from "../../bench/contenders/bare.mjs";

export { sign } from "../../bench/contenders/bare.mjs";

export async function start(port) {
  return { ...(await startBare(port)), completed: () => 0 };
}
