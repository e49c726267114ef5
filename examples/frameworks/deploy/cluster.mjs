// Two processes of the shop on one port. One that crashes is replaced.
import cluster from "node:cluster";

cluster.setupPrimary({ exec: new URL("server.mjs", import.meta.url).pathname });
for (let started = 0; started < 2; started++) cluster.fork();

let isEnding = false;
cluster.on("exit", () => {
  if (!isEnding) cluster.fork();
});
function end() {
  isEnding = true;
  for (const { process: worker } of Object.values(cluster.workers)) worker.kill("SIGTERM");
}
process.on("SIGTERM", end).on("SIGINT", end);
