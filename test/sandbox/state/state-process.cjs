// Runs a sandbox in its own process, which a test kills: node state-process.cjs <built kit> <state file> <webhook address>
const path = require("node:path");

const [kit, state, webhookUrl] = process.argv.slice(2);
const { createSandbox } = require(path.join(kit, "sandbox/index.js"));

async function run() {
  const sandbox = createSandbox({
    state,
    webhookUrls: [webhookUrl],
    // Only the SIGKILL ends the attempt, however slow the machine is.
    webhookTimeoutMs: 300_000,
  });
  await sandbox.start();
  process.send({ url: sandbox.url, token: sandbox.accessToken(), secret: sandbox.secret });
}
void run();
