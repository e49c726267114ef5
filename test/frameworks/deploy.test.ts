import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { examples, ExampleShop, missing } from "./example-shop.js";

const deploy = path.join(examples, "deploy");
const dockerfile = readFileSync(path.join(deploy, "Dockerfile"), "utf8");
/** An instruction of the Dockerfile whose value is a list, as Docker runs it: without a shell. */
const listOf = (instruction: string) =>
  JSON.parse(new RegExp(`^${instruction}(\\[.*\\])$`, "m").exec(dockerfile)![1]!) as string[];

/** Runs a program as the first process of a container: signals have no default action there. */
const asFirst = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const canUnshare = spawnSync("unshare", [...asFirst, "true"]).status === 0;
const reason = missing() ?? missing("pm2");

if (reason !== undefined) {
  it(`leaves the deployments out, because ${reason}`, () => {
    expect(missing() ?? missing("pm2")).toBe(reason);
  });
} else {
  describe("a shop that is deployed", () => {
    let shop: ExampleShop;

    beforeEach(async () => {
      shop = new ExampleShop("/payments");
      await shop.prepare();
    });
    afterEach(() => shop.stop());

    async function pay(order: string): Promise<void> {
      const successUrl = await shop.buy(order);
      const { clientId } = shop.sandbox.payments().at(-1)!;
      expect(await shop.sandbox.pay(clientId)).toMatchObject([{ status: 200 }]);
      await shop.until("the order was paid", async () => {
        const state = (await (await fetch(`${successUrl}/state`)).json()) as { state: string };
        return state.state === "paid";
      });
    }

    /** Sends a signal, and returns the exit code. */
    async function end(signal: NodeJS.Signals): Promise<unknown> {
      const ended = once(shop.child!, "exit");
      shop.child!.kill(signal);
      return (await ended)[0];
    }

    it("as a cluster: buys, replaces a process that dies, and ends on SIGTERM", async () => {
      await shop.start(process.execPath, ["cluster.mjs"], "deploy");
      await pay("order-1");
      const workers = execFileSync("pgrep", ["-P", String(shop.child!.pid)], { encoding: "utf8" });
      const [first] = workers.trim().split("\n").map(Number);
      process.kill(first!, "SIGKILL");
      await shop.until("the process was replaced", () => {
        const now = execFileSync("pgrep", ["-P", String(shop.child!.pid)], { encoding: "utf8" });
        return now.trim().split("\n").length === 2 && !now.split("\n").map(Number).includes(first!);
      });
      await shop.untilUp();
      await pay("order-2");
      expect(await end("SIGTERM")).toBe(0);
    });

    it("under PM2: waits for ready, reloads, and goes on taking orders", async () => {
      const pm2 = path.join(examples, "node_modules/pm2/bin/pm2");
      const env = { ...shop.env, PM2_HOME: path.join(shop.folder, "pm2") };
      const cwd = path.join(shop.folder, "frameworks/deploy");
      const run = (...args: string[]) =>
        execFileSync(process.execPath, [pm2, ...args], { cwd, env, encoding: "utf8", timeout: 50_000 });
      try {
        run("start", "ecosystem.config.cjs");
        await shop.untilUp();
        await pay("order-1");
        const before = processesOf(run("jlist"));
        run("reload", "shop");
        const after = processesOf(run("jlist"));
        await shop.untilUp();
        expect(after).toHaveLength(2);
        for (const { status } of after) expect(status).toBe("online");
        expect(after.filter(({ pid }) => before.some((old) => old.pid === pid))).toEqual([]);
        await pay("order-2");
      } finally {
        run("kill");
      }
    });

    if (!canUnshare)
      it("leaves the first process of a container out, because unshare may not make one", () =>
        expect(canUnshare).toBe(false));
    else
      it("as the first process of a container: is healthy, and ends on SIGTERM", async () => {
        const [command, ...args] = listOf("CMD ");
        expect(command).toBe("node");
        await shop.start("unshare", [...asFirst, process.execPath, ...args], "");
        const health = listOf("HEALTHCHECK .*CMD ").slice(1);
        const check = () =>
          spawnSync(
            process.execPath,
            health.map((part) => part.replace("127.0.0.1:3000", new URL(shop.url).host)),
          );
        expect(check().status).toBe(0);
        await pay("order-1");
        // Docker sends the signal to this process, and not to unshare.
        const first = execFileSync("pgrep", ["-P", String(shop.child!.pid)], { encoding: "utf8" });
        const ended = once(shop.child!, "exit");
        process.kill(Number(first), "SIGTERM");
        expect((await ended)[0]).toBe(0);
        expect(check().status).toBe(1);
      });
  });
}

describe("the files of a deployment", () => {
  it("the Dockerfile runs Node itself, as a user who is not root, with a private folder in its volume", () => {
    expect(listOf("CMD ")).toEqual(["node", "deploy/server.mjs"]);
    expect(dockerfile).toMatch(/install -d -o node -g node -m 700 \/data\/shop\nVOLUME \/data\n/);
    expect(dockerfile.indexOf("USER node")).toBeLessThan(dockerfile.indexOf('CMD ["node", "deploy'));
    expect(dockerfile).toContain("ENV TILLKIT_DATABASE=/data/shop/shop.db");
  });

  const hasSystemd = existsSync("/usr/bin/systemd-analyze");
  it(`the unit is right for systemd${hasSystemd ? "" : ", which is not installed: left out"}`, () => {
    if (!hasSystemd) return;
    const unit = path.join(deploy, "shop.service");
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
    // Where Node is elsewhere, systemd says only that.
    const said = stderr.split("\n").filter((line) => line !== "" && !line.includes("/usr/bin/node"));
    expect(said).toEqual([]);
    expect(stderr === "" ? status : 0).toBe(0);
  });
});

/** Returns the processes that PM2 lists, in the last line of what it prints. */
function processesOf(printed: string): { pid: number; status: string }[] {
  const list = JSON.parse(printed.trim().split("\n").at(-1)!) as {
    pid: number;
    pm2_env: { status: string };
  }[];
  return list.map(({ pid, pm2_env: { status } }) => ({ pid, status }));
}
