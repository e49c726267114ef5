import { catalogue } from "tillkit/sandbox";
import { Desk } from "../open-dashboard.js";

const home = "/developer/scenarios";

describe("the scenarios of the dashboard", () => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await Desk.open();
  });
  afterEach(() => desk.close());

  const known = () => desk.sandbox.scenarios.map(({ name }) => name);

  it.each([
    ["en", "about"],
    ["fr", "about_fr"],
  ] as const)("say in %s what each does, and how a payment asks for it", async (language, about) => {
    const text = (await desk.read(home, { language })).replaceAll("&#39;", "'");
    for (const [place, scenario] of catalogue.entries()) {
      expect(text).toContain(`value="${scenario.name}"`);
      expect(text).toContain(scenario[about]!);
      expect(text).toContain(`<code>${777_001 + place}</code>`);
      expect(text).toContain(`<code>:${scenario.name}</code>`);
    }
  });

  it("ask for themselves by the amounts that the page shows", async () => {
    const text = await desk.read(home);
    const amount = /signature-wrong<\/span[^]*?<code>(\d+)<\/code>/.exec(text)![1]!;
    const id = await desk.pays("order-7", { value: amount, currency: "KMF" });
    expect(desk.sandbox.find(id)).toMatchObject({ scenario: "signature-wrong" });
  });

  it("are chosen for all that follow, and the page offers a way back", async () => {
    const chosen = await desk.does(home, { scenario: "webhook-doubled" });
    expect(chosen).toMatch(/New payments use this[^]*In use[^]*webhook-doubled[^]*Back to normal/);
    await desk.does(home, { scenario: "random" });
    expect(desk.sandbox.currentScenario).toBe("random");
    expect(await desk.does(home, { scenario: "normal" })).not.toContain("Back to normal");
    const unknown = await desk.send(home, { scenario: "sunny" });
    expect([unknown.status, unknown.text]).toEqual([409, expect.stringContaining("sunny")]);
    expect(desk.sandbox.currentScenario).toBe("normal");
  });

  it("can be added as JSON, one or a list, and used or not", async () => {
    const mine = { name: "mine", about: "Comes thrice.", webhooks: [{ times: 3 }] };
    const added = await desk.does(`${home}/own`, { json: JSON.stringify(mine) });
    expect(added).toMatch(/The scenario was added[^]*Your own[^]*Comes thrice\./);
    expect(desk.sandbox.currentScenario).toBe("normal");
    const two = [{ name: "first" }, { name: "second", webhooks: [] }];
    await desk.does(`${home}/own`, { json: JSON.stringify(two), use: "yes" });
    expect(known().slice(-3)).toEqual(["mine", "first", "second"]);
    expect(desk.sandbox.currentScenario).toBe("second");
  });

  it.each([
    ["{", "this is not JSON"],
    ["{}", "name"],
    ['{"name": "Loud Name"}', "lower-case letters"],
    ['[{"name": "good"}, {"name": "bad", "webhook": []}]', "JSON:1: [1].webhook"],
    ["[]", "empty"],
    ["", "this is not JSON"],
  ])("that cannot be read are refused with the reason, and stay in the field: %s", async (json, reason) => {
    const before = known();
    const { status, text } = await desk.send(`${home}/own`, { json });
    expect([status, text]).toEqual([400, expect.stringContaining('aria-invalid="true"')]);
    const told = /role="alert"[^>]*>([^<]*)</.exec(text)![1]!;
    expect(told).toContain(reason);
    expect(text).toContain(`${json.replaceAll('"', "&quot;")}</textarea`);
    expect(text).toMatch(/id="use" name="use" value="yes"\s*\/>/);
    expect(known()).toEqual(before);
  });
});
