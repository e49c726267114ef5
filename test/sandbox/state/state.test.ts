import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { buildKit } from "../../support/built-kit.js";
import { createPayment } from "../create-payment.js";
import { Merchant, status } from "../merchant.js";

const total = { value: "1475", currency: "KMF" };

describe("a sandbox with a state file", () => {
  let merchant: Merchant;
  let folder: string;
  let state: string;
  let open: Sandbox[];
  beforeEach(async () => {
    merchant = await Merchant.open();
    folder = mkdtempSync(path.join(tmpdir(), "tillkit-sandbox-"));
    state = path.join(folder, "sandbox.db");
    open = [];
  });
  afterEach(async () => {
    for (const sandbox of open) await sandbox.close();
    await merchant.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = createSandbox({ state, ...options });
    open.push(sandbox);
    await sandbox.start();
    return sandbox;
  }
  async function restart(options: SandboxOptions = {}): Promise<Sandbox> {
    await open.pop()!.close();
    return start(options);
  }
  /** Returns everything that is visible of a sandbox. */
  const visible = (sandbox: Sandbox) => ({
    payments: sandbox.payments(),
    addresses: sandbox.webhookAddresses,
    deliveries: sandbox.deliveries,
    tokens: sandbox.accessTokens(),
    client: sandbox.client,
    signing: sandbox.signing,
    settings: sandbox.settings,
    scenario: sandbox.currentScenario,
    scenarios: sandbox.scenarios,
  });

  it("does not show the network what the responses of an earlier run contain", async () => {
    const sandbox = await start();
    sandbox.registerWebhook(merchant.webhookUrl);
    merchant.answers.push((res) => res.end("of this machine"));
    await createPayment(sandbox, merchant, "paid");
    expect(await sandbox.pay("paid")).toMatchObject([{ responseBody: "of this machine" }]);
    const inNetwork = await restart({ host: "0.0.0.0" });
    expect(inNetwork.deliveries).toMatchObject([{ status: 200 }]);
    expect(inNetwork.deliveries[0]).not.toHaveProperty("responseBody");
  });

  it("is the same after a restart", async () => {
    const sandbox = await start();
    sandbox.registerWebhook(merchant.webhookUrl);
    sandbox.registerWebhook(`${merchant.url}/gone`);
    sandbox.unregisterWebhook(`${merchant.url}/gone`);
    await createPayment(sandbox, merchant, "paid");
    await sandbox.pay("paid", { provider: "PYP" });
    await createPayment(sandbox, merchant, "canceled");
    await sandbox.cancel("canceled");
    await createPayment(sandbox, merchant, "pending");
    sandbox.accessToken();
    sandbox.revokeAccessTokens();
    sandbox.rotateSecret();
    sandbox.change({ readBack: true, retryDelaysMs: [1000] });
    sandbox.scenario({ name: "thrice", webhooks: [{ times: 3 }] });
    sandbox.scenario("webhook-never", { for: "not yet created" });
    await sandbox.clock.advance(3 * 60 * 60 * 1000);
    const before = visible(sandbox);

    const again = await restart();
    expect(visible(again)).toEqual(before);
    expect(again.clock.now().getTime() - Date.now()).toBeGreaterThan(2.9 * 60 * 60 * 1000);
    expect(again.create({ clientId: "not yet created", total }).scenario).toBe("webhook-never");
    expect(() => again.create({ clientId: "paid", total })).toThrow(/used before/);
    expect(again.registerWebhook("http://localhost:1/").id).not.toBe(before.addresses[0]!.id);
    const delivered = await again.deliverAgain(before.deliveries[0]!.id);
    expect(delivered).toMatchObject({ attempt: 2, status: 200 });
    expect(merchant.webhooks[1]!.rawBody.equals(merchant.webhooks[0]!.rawBody)).toBe(true);
  });

  it("accepts tokens that were issued before a restart", async () => {
    const sandbox = await start();
    const token = sandbox.accessToken();
    const { url } = await restart();
    const create = async (clientId: string) =>
      fetch(`${url}/v1/payments`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(merchant.order(clientId)),
      });
    expect((await create("c-1")).status).toBe(201);
    await open[0]!.clock.advance(3_600_000);
    expect((await create("c-2")).status).toBe(401);
  });

  it("continues retries at the time at which they were due, with the same bytes", async () => {
    const sandbox = await start({ webhookUrls: [merchant.webhookUrl], retryDelaysMs: [60_000, 60_000] });
    await createPayment(sandbox, merchant, "c-1");
    merchant.answers.push(status(500), status(500));
    await sandbox.pay("c-1");
    await sandbox.clock.advance(40_000);

    const again = await restart();
    await again.clock.advance(15_000);
    expect(merchant.webhooks).toHaveLength(1);
    await again.clock.advance(6000);
    expect(merchant.webhooks).toHaveLength(2);
    const third = await restart();
    await third.clock.advance(60_000);
    expect(third.deliveries.map(({ attempt, status: code }) => [attempt, code])).toEqual([
      [1, 500],
      [2, 500],
      [3, 200],
    ]);
    const sent = merchant.webhooks.map(({ rawBody, headers }) =>
      [rawBody.toString(), headers["service-signature"]].join(" "),
    );
    expect(new Set(sent).size).toBe(1);
    const fourth = await restart();
    await fourth.settled();
    expect(merchant.webhooks).toHaveLength(3);
  });

  it("sends a held webhook once after a restart, without the attempt that closing aborted", async () => {
    const sandbox = await start({ webhookUrls: [merchant.webhookUrl] });
    await createPayment(sandbox, merchant, "c-1");
    sandbox.holdWebhooks();
    const held = sandbox.pay("c-1");
    const again = await restart();
    expect(await held).toMatchObject([{ error: "the sandbox was closed" }]);
    await again.settled();
    expect(again.deliveries).toMatchObject([{ attempt: 1, status: 200 }]);
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("gives a webhook that is due at the restart another id than one that still waits", async () => {
    let now = Date.parse("2030-01-01T12:00:00.000Z");
    const options = { seed: "a seed", webhookUrls: [merchant.webhookUrl], now: () => new Date(now) };
    const sandbox = await start(options);
    sandbox.create({ clientId: "first:canceled-then-paid", total });
    sandbox.create({ clientId: "second:webhook-delayed", total });
    void sandbox.cancel("first:canceled-then-paid");
    void sandbox.pay("second:webhook-delayed");
    now += 60_000;
    const again = await restart(options);
    await again.settled();
    expect(again.deliveries.map(({ status: code }) => code)).toEqual([200, 200]);
    expect(new Set(again.deliveries.map(({ id }) => id)).size).toBe(2);
  });

  it("does not continue a retry that was dropped with its address", async () => {
    const sandbox = await start({ webhookUrls: [merchant.webhookUrl], retryDelaysMs: [1000] });
    await createPayment(sandbox, merchant, "c-1");
    merchant.answers.push(status(500));
    await sandbox.pay("c-1");
    sandbox.unregisterWebhook(merchant.webhookUrl);
    await sandbox.clock.advance(1000);
    await sandbox.settled();
    sandbox.registerWebhook(merchant.webhookUrl);
    const again = await restart();
    await again.settled();
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("makes each later move once, however often it is restarted", async () => {
    const later = { status: "failed", delayMs: 5000, webhook: true };
    const sandbox = await start({
      webhookUrls: [merchant.webhookUrl],
      scenario: { name: "fails", moves: { approved: [{ status: "submitted" }, later] } },
    });
    await createPayment(sandbox, merchant, "c-1");
    void sandbox.pay("c-1");
    await (await restart()).clock.advance(5000);
    const third = await restart();
    await third.clock.advance(60_000);
    await third.settled();
    expect(third.find("c-1")!.status).toBe("failed");
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("does not start moves again that go on after a restart", async () => {
    const later = { status: "submitted", delayMs: 5000, webhook: true };
    const sandbox = await start({
      webhookUrls: [merchant.webhookUrl],
      scenario: { name: "slow", moves: { approved: [later, { status: "completed" }] } },
    });
    await createPayment(sandbox, merchant, "c-1");
    void sandbox.pay("c-1");
    const again = await restart();
    expect(await again.pay("c-1")).toEqual([]);
    await again.clock.advance(5000);
    await again.settled();
    expect(again.find("c-1")!.status).toBe("completed");
    expect(merchant.webhooks).toHaveLength(2);
  });

  it.each<[string, (sandbox: Sandbox) => unknown, (sandbox: Sandbox) => unknown]>([
    ["a new secret", (one) => one.rotateSecret(), ({ signing }) => signing],
    ["a setting", (one) => one.change({ readBack: true }), ({ settings }) => settings],
    ["a random scenario", (one) => one.scenario("random"), ({ currentScenario }) => currentScenario],
    ["a scenario that was added", (one) => one.addScenario({ name: "mine" }), ({ scenarios }) => scenarios],
    ["the clock", (one) => one.clock.advance(86_400_000), ({ clock }) => clock.now().toISOString()],
    ["a revoked token", (one) => one.revokeAccessTokens(), (one) => one.accessTokens()],
  ])("keeps one change alone: %s", async (_, change, read) => {
    const options = { now: () => new Date("2030-01-01T12:00:00.000Z") };
    const sandbox = await start(options);
    sandbox.accessToken();
    const before = read(sandbox);
    await change(sandbox);
    const after = read(sandbox);
    expect(after).not.toEqual(before);
    expect(read(await restart(options))).toEqual(after);
  });

  it("continues the later moves of a scenario", async () => {
    const sandbox = await start({ webhookUrls: [merchant.webhookUrl], scenario: "canceled-then-paid" });
    const id = await createPayment(sandbox, merchant, "c-1");
    await fetch(`${sandbox.url}/payment/submit/${id}`, {
      method: "POST",
      body: new URLSearchParams({ action: "cancel" }),
    });
    const again = await restart();
    expect(again.find("c-1")!.status).toBe("canceled");
    await again.clock.advance(5000);
    expect(again.find("c-1")!.status).toBe("completed");
    expect(merchant.webhooks).toHaveLength(1);
    const third = await restart();
    await third.settled();
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("gives the options precedence over the file", async () => {
    const own = { name: "own", webhooks: [] };
    const sandbox = await start({ readBack: true, cancelWebhook: true, scenario: own, scenarios: [own] });
    sandbox.rotateSecret();
    const clients = [{ clientId: "other", clientSecret: "sandbox_other" }];
    const secret = "sandbox_a-secret-of-32-bytes-or-more";
    const changed = { name: "own", webhooks: [{ times: 2 }] };
    const again = await restart({
      readBack: false,
      clients,
      signature: { scheme: "hmac", secret },
      scenario: "webhook-delayed",
      scenarios: [changed],
    });
    expect(again.settings).toMatchObject({ readBack: false, cancelWebhook: true });
    expect(again.client).toEqual(clients[0]);
    expect(again.secret).toBe(secret);
    expect(again.currentScenario).toBe("webhook-delayed");
    expect(again.scenarios.at(-1)).toEqual(changed);
  });

  it("continues a seed where it ended, so that no id repeats", async () => {
    const ids = async (count: number, from: string) => {
      const made: string[] = [];
      for (let each = 0; each < count; each++) {
        const { id } = open[0]!.create({ clientId: `${from}-${each}`, total });
        await open[0]!.pay(id);
        made.push(id, open[0]!.deliveries.at(-1)!.id);
      }
      return made;
    };
    const options = { seed: "a seed", webhookUrls: [merchant.webhookUrl] };
    await start(options);
    const first = await ids(2, "first");
    await restart(options);
    const second = await ids(2, "second");
    await restart({ ...options, state: path.join(folder, "other.db") });
    rmSync(state);
    expect(await ids(4, "all")).toEqual([...first, ...second]);
  });

  it("throws sandbox_misused before it has read its file", async () => {
    const sandbox = createSandbox({ state });
    open.push(sandbox);
    const misuse = expect.objectContaining({
      code: "sandbox_misused",
      message: expect.stringContaining("start()"),
    });
    for (const early of [
      () => sandbox.secret,
      () => sandbox.client,
      () => sandbox.scenario("webhook-never"),
      () => sandbox.change({ readBack: true }),
      () => sandbox.registerWebhook(merchant.webhookUrl),
      () => sandbox.unregisterWebhook(merchant.webhookUrl),
      () => sandbox.revokeAccessTokens(),
      () => sandbox.addScenario({ name: "own" }),
      () => sandbox.accessToken(),
      () => sandbox.rotateSecret(),
      () => sandbox.create({ clientId: "c-1", total }),
    ])
      expect(early).toThrow(misuse);
    await sandbox.start();
    expect(sandbox.secret).toMatch(/^sandbox_/);
  });

  it("does not start where the file cannot be opened", async () => {
    const sandbox = createSandbox({ state: folder });
    await expect(sandbox.start()).rejects.toMatchObject({ code: "path_exposed" });
    await sandbox.close();
  });

  it("can be closed twice", async () => {
    const sandbox = await start();
    await sandbox.close();
    await expect(sandbox.close()).resolves.toBeUndefined();
  });

  it("keeps confirmed payments and open webhooks through a SIGKILL of its process", async () => {
    const kit = buildKit();
    const child = fork(path.join(__dirname, "state-process.cjs"), [kit, state, merchant.webhookUrl]);
    const [{ url, token, secret }] = (await once(child, "message")) as [Record<string, string>];
    const created = await fetch(`${url}/v1/payments`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(merchant.order("c-1")),
    });
    const { next } = (await created.json()) as { next: string };
    merchant.answers.push(() => {});
    const arrival = merchant.arrival();
    const approval = new URLSearchParams({ action: "approve", provider: "HOL" });
    const left = await fetch(next, { method: "POST", body: approval, redirect: "manual" });
    await arrival;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    rmSync(kit, { recursive: true, force: true });

    const sandbox = await start();
    expect([created.status, left.status]).toEqual([201, 303]);
    expect(sandbox.payments()).toMatchObject([{ clientId: "c-1", status: "completed", source: "HOL" }]);
    expect([sandbox.secret, sandbox.accessTokens().length]).toEqual([secret, 1]);
    await sandbox.settled();
    expect(sandbox.deliveries).toMatchObject([{ attempt: 1, status: 200, url: merchant.webhookUrl }]);
    const [aborted, repeated] = merchant.webhooks;
    expect(repeated!.rawBody.equals(aborted!.rawBody)).toBe(true);
  }, 300_000);
});
