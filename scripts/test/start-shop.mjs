// Runs `npm start`, opens the shop and the sandbox as soon as it prints their addresses, and stops it as Ctrl-C does.
import { spawn } from "node:child_process";

const child = spawn(process.execPath, ["scripts/start.mjs"], { stdio: ["ignore", "pipe", "inherit"] });
let printed = "";
child.stdout.setEncoding("utf8");
const ended = new Promise((resolve) => child.once("exit", resolve));
const address = (name) =>
  new RegExp(`The ${name}\\s+(http://localhost:\\d+|http://127\\.0\\.0\\.1:\\d+)`).exec(printed)?.[1];

const ready = new Promise((resolve) => {
  child.stdout.on("data", (piece) => {
    printed += piece;
    if (address("shop") && address("sandbox") && printed.includes("Ctrl-C")) resolve("ready");
  });
});
const first = await Promise.race([ready, ended]);
if (first !== "ready") throw new Error(`npm start ended with ${first}:\n${printed}`);
const pages = [address("shop"), address("sandbox")];
const answers = await Promise.all(pages.map(async (page) => (await fetch(page)).status));
child.kill("SIGINT");
const code = await ended;
console.log(`${pages.join(" ")} answered ${answers.join(" ")}, and the end was ${code}.`);
process.exitCode = code === 0 && answers.every((status) => status === 200) ? 0 : 1;
