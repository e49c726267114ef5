import { catalogue } from "tillkit/sandbox";
import { OpenDashboard } from "../open-dashboard.js";

const home = "/developer/scenarios";

describe("the scenarios of the dashboard", () => {
  let dashboard: OpenDashboard;
  beforeEach(async () => {
    dashboard = await OpenDashboard.open();
  });

  const known = () => dashboard.sandbox.scenarios.map(({ name }) => name);

  it("say what each does, and how a payment selects it", async () => {
    const text = (await dashboard.read(home)).replaceAll("&#39;", "'");
    for (const [place, scenario] of catalogue.entries()) {
      expect(text).toContain(`value="${scenario.name}"`);
      expect(text).toContain(scenario.about!);
      expect(text).toContain(`<code>${777_001 + place}</code>`);
      expect(text).toContain(`<code>:${scenario.name}</code>`);
    }
  });

  it("stand in groups, each with their number", async () => {
    dashboard.sandbox.addScenario({ name: "mine" });
    const text = await dashboard.read(home);
    const groups = [
      ...text.matchAll(/<h2>([^<]+)<\/h2>\s*<span class="badge">(\d+)<\/span>([^]*?)<\/details>/g),
    ];
    const has = groups.map(([, title, count, members]) => {
      const names = [...members!.matchAll(/<span class="what">([a-z-]+)</g)].map(([, name]) => name);
      expect(names).toHaveLength(Number(count));
      return [title, names.at(-1)];
    });
    expect(has).toEqual([
      ["Your own", "mine"],
      ["Normal and random", "random"],
      ["Webhooks", "type-unknown"],
      ["Course of the payment", "paid-other-amount"],
      ["Creating a payment", "creation-reset"],
      ["Access tokens", "token-expired-early"],
    ]);
    expect(groups[3]![3]).toContain(">paid-twice<");
    expect(text).not.toContain("<code>:random</code>");
    expect(text).toMatch(/id="use" name="use" value="yes" checked/);
  });

  it("are selected by the amounts that the page shows", async () => {
    const text = await dashboard.read(home);
    const amount = /signature-wrong<\/span[^]*?<code>(\d+)<\/code>/.exec(text)![1]!;
    const id = await dashboard.pays("order-7", { value: amount, currency: "KMF" });
    expect(dashboard.sandbox.find(id)).toMatchObject({ scenario: "signature-wrong" });
  });

  it("are chosen for new payments, and the page marks the one in use", async () => {
    const inUse = (name: string) =>
      new RegExp(`<span class="what">${name}</span>\\s*<span class="badge good">In use</span>`);
    const chosen = await dashboard.does(home, { scenario: "webhook-doubled" });
    expect(chosen).toMatch(/New payments use this[^]*<details class="panel" open>/);
    expect(chosen).toMatch(inUse("webhook-doubled"));
    const open = chosen.match(/<details class="panel" open>[^]*?<\/details>/g)!;
    expect(open).toEqual([expect.stringMatching(inUse("webhook-doubled"))]);
    await dashboard.does(home, { scenario: "random" });
    expect(dashboard.sandbox.currentScenario).toBe("random");
    expect(await dashboard.does(home, { scenario: "normal" })).toMatch(inUse("normal"));
    const unknown = await dashboard.send(home, { scenario: "sunny" });
    expect([unknown.status, unknown.text]).toEqual([409, expect.stringContaining("sunny")]);
    expect(dashboard.sandbox.currentScenario).toBe("normal");
  });

  it("can be added as JSON, one or a list, and used or not", async () => {
    const mine = { name: "mine", about: "Comes thrice.", webhooks: [{ times: 3 }] };
    const added = await dashboard.does(`${home}/own`, { json: JSON.stringify(mine) });
    expect(added).toMatch(/The scenario was added[^]*Your own[^]*Comes thrice\./);
    expect(dashboard.sandbox.currentScenario).toBe("normal");
    const two = [{ name: "first" }, { name: "second", webhooks: [] }];
    await dashboard.does(`${home}/own`, { json: JSON.stringify(two), use: "yes" });
    expect(known().slice(-3)).toEqual(["mine", "first", "second"]);
    expect(dashboard.sandbox.currentScenario).toBe("second");
  });

  it.each([
    ["{", "this is not JSON"],
    ["{}", "name"],
    ['{"name": "Loud Name"}', "lower-case letters"],
    [
      '[{"name": "good"}, {"name": "bad", "webhook": []}]',
      "JSON: [1]: &quot;webhook&quot; is not known. Did you mean webhooks?",
    ],
    ["[]", "empty"],
    ["", "this is not JSON"],
  ])(
    "are refused with the reason where they cannot be read, and stay in the field: %s",
    async (json, reason) => {
      const before = known();
      const { status, text } = await dashboard.send(`${home}/own`, { json });
      expect([status, text]).toEqual([400, expect.stringContaining('aria-invalid="true"')]);
      const told = /role="alert"[^>]*>([^<]*)</.exec(text)![1]!;
      expect(told).toContain(reason);
      expect(text).toContain(`${json.replaceAll('"', "&quot;")}</textarea`);
      expect(text).toMatch(/id="use" name="use" value="yes"\s*\/>/);
      expect(known()).toEqual(before);
    },
  );
});
