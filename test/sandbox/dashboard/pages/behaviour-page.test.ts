import { type SandboxSettings } from "tillkit/sandbox";
import { timeSpan } from "../../../../src/sandbox/dashboard/frame/format.js";
import { OpenDashboard } from "../open-dashboard.js";

const home = "/developer/behaviour";

/** Returns what a browser sends if its user changes nothing on the page. */
function formOf(text: string): Record<string, string[]> {
  const settings = /<form class="panel"[^]*?<\/form>/.exec(text)![0];
  const form: Record<string, string[]> = {};
  for (const [tag] of settings.matchAll(/<input\b[^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(tag)![1]!;
    if (tag.includes('type="checkbox"') && !/ checked/.test(tag)) continue;
    (form[name] ??= []).push(/ value="([^"]*)"/.exec(tag)![1]!);
  }
  for (const [, name, options] of settings.matchAll(/<select[^>]* name="([^"]*)"[^>]*>([^]*?)<\/select>/g))
    form[name!] = [/value="([^"]*)"\s+selected/.exec(options!)![1]!];
  return form;
}

/** Returns the tags of the fields that are marked as wrong. */
function invalidFields(text: string): string[] {
  return text.match(/<input\b[^>]*aria-invalid="true"[^>]*>/g) ?? [];
}

describe("the behaviour page", () => {
  let dashboard: OpenDashboard;
  beforeEach(async () => {
    dashboard = await OpenDashboard.open({ seed: "seven", retryDelaysMs: [1000, 5000] });
  });

  it("changes nothing when it is saved unchanged", async () => {
    const every: SandboxSettings = {
      strict: false,
      successStatus: 202,
      errorBodies: "bare",
      echoClientId: true,
      readBack: true,
      readBackBare: true,
      statuses: ["init", "captured"],
      statusWebhooks: true,
      cancelWebhook: true,
      failureWebhook: true,
      accessTokenTtlSeconds: 90,
      webhookDelayMs: 10,
      webhookTimeoutMs: 700,
      retryDelaysMs: [5, 6, 7],
    };
    for (const settings of [dashboard.sandbox.settings, every]) {
      dashboard.sandbox.change(settings);
      expect(await dashboard.does(home, formOf(await dashboard.read(home)))).toContain(
        "The settings are saved.",
      );
      expect(dashboard.sandbox.settings).toEqual(settings);
    }
  });

  it("saves every setting", async () => {
    const page = await dashboard.read(home);
    expect(page).toMatch(/<option value="minutes" selected>/);
    expect(page).toMatch(
      /<option value="problem" selected>as JSON<[^]*value="bare" >without a body<[^]*>as a page</,
    );
    expect(page).toMatch(/<label for="statusWebhooks">A webhook for each of those statuses</);
    const form = formOf(page);
    await dashboard.does(home, {
      ...form,
      strict: [],
      readBack: "on",
      statuses: ["submitted", "approved"],
      successStatus: "200",
      errorBodies: "html",
      webhookTimeoutMs: " 2500 ",
      retryDelaysMs: "10, 20,30  40",
    });
    expect(dashboard.sandbox.settings).toMatchObject({
      strict: false,
      readBack: true,
      statuses: ["submitted", "approved"],
      successStatus: 200,
      errorBodies: "html",
      webhookTimeoutMs: 2500,
      retryDelaysMs: [10, 20, 30, 40],
    });
    await dashboard.does(home, { ...form, retryDelaysMs: "" });
    expect(dashboard.sandbox.settings.retryDelaysMs).toEqual([]);
  });

  it.each([
    ["webhookTimeoutMs", "later", 400, "must be a whole number such as 5000, not “later”"],
    ["webhookDelayMs", "", 400, "must be a whole number"],
    ["retryDelaysMs", "10, twenty", 400, "not “twenty”"],
    ["accessTokenTtlSeconds", "-1", 400, "not “-1”"],
    ["webhookTimeoutMs", "0", 409, "webhookTimeoutMs"],
    ["webhookDelayMs", "86400001", 409, "webhookDelayMs"],
    ["successStatus", "204", 409, "successStatus"],
    ["errorBodies", "poem", 409, "errorBodies"],
    ["statuses", "lost", 409, "statuses"],
  ])(
    "refuses %s as %j with the reason, changes nothing, and keeps what was typed",
    async (name, value, code, reason) => {
      const before = dashboard.sandbox.settings;
      const form = {
        ...formOf(await dashboard.read(home)),
        echoClientId: "on",
        webhookDelayMs: "77",
        [name]: value,
      };
      const { status, text } = await dashboard.send(home, form);
      expect([status, text]).toEqual([code, expect.stringContaining(reason)]);
      expect(dashboard.sandbox.settings).toEqual(before);
      expect(text).toMatch(/name="echoClientId" value="on" checked/);
      // A select has fixed values; a field keeps what was typed.
      const typed = ["successStatus", "errorBodies", "statuses"].includes(name) ? "77" : value;
      expect(text).toContain(`value="${typed}"`);
    },
  );

  it.each([
    ["webhookTimeoutMs", "later", "“Time that the shop has to answer, in ms” must be a whole number"],
    ["webhookTimeoutMs", "0", "Too small: expected number to be"],
    ["retryDelaysMs", "10, 86400001", "Too big: expected number to be"],
  ])("marks the field of %s with what is wrong with %j", async (name, value, reason) => {
    const form = formOf(await dashboard.read(home));
    const { text } = await dashboard.send(home, { ...form, [name]: value });
    const invalid = invalidFields(text);
    expect(invalid).toEqual([expect.stringContaining(`name="${name}"`)]);
    expect(invalid[0]).toContain(`aria-errormessage="${name}-error"`);
    expect(text).toContain(`id="${name}-error">${reason}`);
  });

  it("marks every field with a wrong number", async () => {
    const form = formOf(await dashboard.read(home));
    expect(Object.keys(form)).toContain("webhookDelayMs");
    const wrong = { webhookDelayMs: "later", accessTokenTtlSeconds: "-1", webhookTimeoutMs: "0" };
    const { text } = await dashboard.send(home, { ...form, ...wrong });
    for (const name of Object.keys(wrong)) expect(text).toContain(`id="${name}-error"`);
    expect(invalidFields(text)).toHaveLength(3);
  });

  it("marks the field of the clock, and none of the settings", async () => {
    expect(invalidFields(await dashboard.read(home))).toEqual([]);
    const { text } = await dashboard.send(`${home}/clock`, { amount: "later", unit: "hours" });
    expect(text).toMatch(
      /<input\b[^>]*name="amount"[^>]*aria-invalid="true"[^>]*aria-errormessage="problem"/,
    );
    expect(invalidFields(text)).toHaveLength(1);
  });

  it.each([
    [{ amount: "1", unit: "minutes" }, 60_000],
    [{ amount: "1", unit: "hours" }, 3_600_000],
    [{ amount: "1", unit: "days" }, 86_400_000],
    [{ amount: " 1,5 ", unit: "seconds" }, 1500],
  ])("puts the clock forward by %j", async (form, ms) => {
    const before = dashboard.sandbox.clock.now().getTime();
    expect(await dashboard.does(`${home}/clock`, form)).toContain("The clock was put forward.");
    const ahead = dashboard.sandbox.clock.now().getTime() - before;
    expect(ahead - ms).toBeGreaterThanOrEqual(0);
    expect(ahead - ms).toBeLessThan(30_000);
  });

  it("runs what becomes due when the clock goes forward", async () => {
    const token = dashboard.sandbox.accessToken();
    dashboard.merchant.answers.push((res) => res.writeHead(500).end());
    await dashboard.sandbox.pay(await dashboard.pays("order-7"));
    await dashboard.does(`${home}/clock`, { amount: "2", unit: "hours" });
    expect(dashboard.sandbox.deliveries.map(({ status }) => status)).toEqual([500, 200]);
    expect(await dashboard.read("/developer")).toMatch(new RegExp(`…${token.slice(-8)}[^]*?>expired<`));
    const later = await dashboard.read(home);
    // A slow machine takes a part of the two hours for the second attempt.
    const aheadMs = dashboard.sandbox.clock.now().getTime() - Date.now();
    const [, ahead] = /It is ([^<]+) ahead of the machine/.exec(later)!;
    expect([aheadMs + 500, aheadMs - 500].map(timeSpan)).toContain(ahead);
    expect(aheadMs).toBeGreaterThan(7_000_000);
    const shown = Date.parse(/The sandbox’s time<\/dt>\s*<dd><time datetime="([^"]+)"/.exec(later)![1]!);
    expect(Math.abs(shown - dashboard.sandbox.clock.now().getTime())).toBeLessThan(60_000);
  });

  it.each(["", "later", "-5", "1e9", "9999999999"])(
    "does not put the clock forward by %j, and keeps the settings",
    async (amount) => {
      const before = dashboard.sandbox.clock.now().getTime();
      const { status, text } = await dashboard.send(`${home}/clock`, { amount, unit: "hours" });
      expect([status, text]).toEqual([400, expect.stringContaining('role="alert"')]);
      expect(text).toContain(`value="${amount}"`);
      expect(text).toMatch(/<option value="hours" selected>/);
      expect(text).toMatch(/name="strict" value="on" checked/);
      expect(dashboard.sandbox.clock.now().getTime() - before).toBeLessThan(60_000);
    },
  );

  it("shows the seed, or that there is none", async () => {
    expect(await dashboard.read(home)).toContain("<code>seven</code>");
    const without = await OpenDashboard.open();
    expect(await without.read(home)).toContain("none: ids differ at every start");
  });
});
