import { type SandboxSettings } from "tillkit/sandbox";
import { Desk } from "../open-dashboard.js";

const home = "/developer/behaviour";

/** What a browser would send if its user changed nothing on the page. */
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

describe("the behaviour page", () => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await Desk.open({ seed: "seven", retryDelaysMs: [1000, 5000] });
  });
  afterEach(() => desk.close());

  it("changes nothing when it is saved as it is", async () => {
    const every: SandboxSettings = {
      strict: false,
      successStatus: 202,
      errorBodies: "bare",
      echoClientId: true,
      readBack: true,
      statuses: ["init", "captured"],
      statusWebhooks: true,
      cancelWebhook: true,
      failureWebhook: true,
      accessTokenTtlSeconds: 90,
      webhookDelayMs: 10,
      webhookTimeoutMs: 700,
      retryDelaysMs: [5, 6, 7],
    };
    for (const settings of [desk.sandbox.settings, every]) {
      desk.sandbox.change(settings);
      expect(await desk.does(home, formOf(await desk.read(home)))).toContain("The settings are saved.");
      expect(desk.sandbox.settings).toEqual(settings);
    }
  });

  it("saves every setting", async () => {
    const form = formOf(await desk.read(home));
    await desk.does(home, {
      ...form,
      strict: [],
      readBack: "on",
      statuses: ["submitted", "approved"],
      successStatus: "200",
      errorBodies: "html",
      webhookTimeoutMs: " 2500 ",
      retryDelaysMs: "10, 20,30  40",
    });
    expect(desk.sandbox.settings).toMatchObject({
      strict: false,
      readBack: true,
      statuses: ["submitted", "approved"],
      successStatus: 200,
      errorBodies: "html",
      webhookTimeoutMs: 2500,
      retryDelaysMs: [10, 20, 30, 40],
    });
    await desk.does(home, { ...form, retryDelaysMs: "" });
    expect(desk.sandbox.settings.retryDelaysMs).toEqual([]);
  });

  it.each([
    ["webhookTimeoutMs", "soon", 400, "must be a whole number such as 5000, not “soon”"],
    ["webhookDelayMs", "", 400, "must be a whole number"],
    ["retryDelaysMs", "10, twenty", 400, "not “twenty”"],
    ["accessTokenTtlSeconds", "-1", 400, "not “-1”"],
    ["webhookTimeoutMs", "0", 409, "webhookTimeoutMs"],
    ["webhookDelayMs", "86400001", 409, "webhookDelayMs"],
    ["successStatus", "204", 409, "successStatus"],
    ["errorBodies", "poem", 409, "errorBodies"],
    ["statuses", "lost", 409, "statuses"],
  ])(
    "refuses %s as %j with the reason, changes nothing, and loses nothing",
    async (name, value, code, reason) => {
      const before = desk.sandbox.settings;
      const form = {
        ...formOf(await desk.read(home)),
        echoClientId: "on",
        webhookDelayMs: "77",
        [name]: value,
      };
      const { status, text } = await desk.send(home, form);
      expect([status, text]).toEqual([code, expect.stringContaining(reason)]);
      expect(desk.sandbox.settings).toEqual(before);
      expect(text).toMatch(/name="echoClientId" value="on" checked/);
      // What a list offers cannot be typed; all that can be is still there.
      const typed = ["successStatus", "errorBodies", "statuses"].includes(name) ? "77" : value;
      expect(text).toContain(`value="${typed}"`);
    },
  );

  it("tells of a number that cannot be read in French too", async () => {
    const { text } = await desk.send(
      home,
      { webhookDelayMs: "bientôt", successStatus: "201" },
      { "Accept-Language": "fr" },
    );
    expect(text).toMatch(/role="alert" lang="fr">[^<]*doit être un nombre entier comme 5000/);
  });

  it.each([
    [{ amount: "1", unit: "minutes" }, 60_000],
    [{ amount: "1", unit: "hours" }, 3_600_000],
    [{ amount: "1", unit: "days" }, 86_400_000],
    [{ amount: "1,5", unit: "seconds" }, 1500],
  ])("puts the clock forward by %j", async (form, ms) => {
    const before = desk.sandbox.clock.now().getTime();
    expect(await desk.does(`${home}/clock`, form)).toContain("The clock was put forward.");
    const ahead = desk.sandbox.clock.now().getTime() - before;
    expect(ahead - ms).toBeGreaterThanOrEqual(0);
    expect(ahead - ms).toBeLessThan(1000);
  });

  it("does what falls due on the way", async () => {
    const token = desk.sandbox.accessToken();
    desk.merchant.answers.push((res) => res.writeHead(500).end());
    await desk.sandbox.pay(await desk.pays("order-7"));
    await desk.does(`${home}/clock`, { amount: "2", unit: "hours" });
    expect(desk.sandbox.deliveries.map(({ status }) => status)).toEqual([500, 200]);
    expect(await desk.read("/developer")).toMatch(new RegExp(`…${token.slice(-8)}[^]*?>expired<`));
    expect(await desk.read(home)).toMatch(/It is 2 hours(, \d seconds?)? ahead of the machine/);
  });

  it.each(["", "soon", "-5", "1e9", "9999999999"])(
    "does not go by %j, and leaves the settings as they are",
    async (amount) => {
      const before = desk.sandbox.clock.now().getTime();
      const { status, text } = await desk.send(`${home}/clock`, { amount, unit: "hours" });
      expect([status, text]).toEqual([400, expect.stringContaining('role="alert"')]);
      expect(text).toContain(`value="${amount}"`);
      expect(text).toMatch(/name="strict" value="on" checked/);
      expect(desk.sandbox.clock.now().getTime() - before).toBeLessThan(60_000);
    },
  );

  it("shows the seed, and where there is none says so", async () => {
    expect(await desk.read(home)).toContain("<code>seven</code>");
    const without = await Desk.open();
    expect(await without.read(home)).toContain("none: ids differ at every start");
    await without.close();
  });
});
