import { catalogue, createSandbox, type Scenario } from "tillkit/sandbox";
import { ScenarioRegistry } from "../../../src/sandbox/scenario/scenario-registry.js";
import { createRandom } from "../../../src/sandbox/state/random.js";
import { createPayment } from "../create-payment.js";
import { Merchant } from "../merchant.js";

const total = (value = "1475") => ({ value, currency: "KMF" });
const returns = { successUrl: "http://localhost/", cancelUrl: "http://localhost/" };
const misuse = expect.objectContaining({ code: "sandbox_misused" });

/** Creates a payment with this clientId and amount, and returns its scenario. */
function scenarioOf(sandbox: ReturnType<typeof createSandbox>, clientId: string, value?: string): string {
  return sandbox.create({ clientId, total: total(value) }).scenario;
}

describe("a payment's scenario", () => {
  it("is the current one if the assigned one of an earlier version no longer exists", () => {
    const registry = new ScenarioRegistry(createRandom("7", "scenarios"), [], "webhook-never");
    const assigned = { "c-1": "gone", "c-2": "webhook-doubled" };
    registry.restore({ scenario: "normal", scenarios: [], assigned }, { scenario: true });
    const nameFor = (clientId: string) => registry.nameFor({ clientId, total: total(), ...returns });
    expect([nameFor("c-1"), nameFor("c-2")]).toEqual(["webhook-never", "webhook-doubled"]);
  });

  it("is the normal one by default", () => {
    expect(scenarioOf(createSandbox(), "c-1")).toBe("normal");
    expect(createSandbox().currentScenario).toBe("normal");
  });

  it("is the current one for payments that are created later", () => {
    const sandbox = createSandbox({ scenario: "webhook-never" });
    expect(scenarioOf(sandbox, "c-1")).toBe("webhook-never");
    sandbox.scenario("webhook-doubled");
    expect([sandbox.currentScenario, scenarioOf(sandbox, "c-2")]).toEqual([
      "webhook-doubled",
      "webhook-doubled",
    ]);
    expect(sandbox.find("c-1")!.scenario).toBe("webhook-never");
  });

  it.each([
    ["order-7:webhook-doubled", "webhook-doubled"],
    ["order-7.webhook-doubled", "webhook-doubled"],
    ["a:webhook-never:normal", "normal"],
    ["order-7-webhook-doubled", "amount-changed"],
    ["order-7:nothing-of-the-kind", "amount-changed"],
    ["webhook-doubled", "amount-changed"],
  ])("can be chosen by the end of the clientId: %s", (clientId, name) => {
    expect(scenarioOf(createSandbox({ scenario: "amount-changed" }), clientId)).toBe(name);
  });

  it("can be chosen by the amount: 777001 and the next numbers, in the order of the catalogue", () => {
    const sandbox = createSandbox();
    const chosen = catalogue.map((_each, index) => scenarioOf(sandbox, `c-${index}`, `${777_001 + index}`));
    expect(chosen).toEqual(catalogue.map(({ name }) => name));
    expect(scenarioOf(sandbox, "decimals", "777002.50")).toBe("webhook-doubled");
    for (const other of ["777000", `${777_001 + catalogue.length}`, "7770010", "77700.1"])
      expect(scenarioOf(sandbox, other, other)).toBe("normal");
  });

  it("can be assigned to one payment, before or after its creation", () => {
    const sandbox = createSandbox();
    sandbox.scenario("webhook-never", { for: "early" });
    expect(scenarioOf(sandbox, "early")).toBe("webhook-never");
    const { id } = sandbox.create({ clientId: "late", total: total() });
    sandbox.scenario("amount-changed", { for: id });
    sandbox.scenario("random", { for: "by-chance" });
    expect(sandbox.find("late")!.scenario).toBe("amount-changed");
    expect(catalogue.map(({ name }) => name)).toContain(scenarioOf(sandbox, "by-chance"));
    expect(sandbox.currentScenario).toBe("normal");
  });

  it("is first the assigned one, then that of the clientId, of the amount, and the current one", () => {
    const sandbox = createSandbox({ scenario: "webhook-never" });
    sandbox.scenario("creation-slow", { for: "a:webhook-doubled" });
    expect(scenarioOf(sandbox, "a:webhook-doubled", "777001")).toBe("creation-slow");
    expect(scenarioOf(sandbox, "b:webhook-doubled", "777001")).toBe("webhook-doubled");
    expect(scenarioOf(sandbox, "c", "777001")).toBe("webhook-delayed");
  });

  it("can be drawn for each payment by chance", () => {
    const sandbox = createSandbox({ scenario: "random", seed: "a seed" });
    const drawn = Array.from({ length: 600 }, (_each, index) => scenarioOf(sandbox, `c-${index}`));
    expect(new Set(drawn)).toEqual(new Set(catalogue.map(({ name }) => name)));
  });
});

describe("the program's own scenarios", () => {
  const own: Scenario = { name: "thrice", webhooks: [{ times: 3 }] };

  it("are listed after the catalogue, and take effect", async () => {
    const merchant = await Merchant.open();
    const sandbox = createSandbox({ scenarios: [own], webhookUrls: [merchant.webhookUrl] });
    expect(sandbox.scenarios.map(({ name }) => name)).toEqual([
      "normal",
      ...catalogue.map(({ name }) => name),
      "thrice",
    ]);
    await createPayment(sandbox, merchant, "c:thrice");
    expect(await sandbox.pay("c:thrice")).toMatchObject([{ scenario: "thrice" }, {}, {}]);
    await sandbox.close();
    await merchant.close();
  });

  it("can be given in place of a name, or added without being used", () => {
    const sandbox = createSandbox({ scenario: own });
    expect(sandbox.currentScenario).toBe("thrice");
    sandbox.scenario({ name: "another" });
    expect(sandbox.addScenario({ name: "third" })).toBe("third");
    expect(sandbox.currentScenario).toBe("another");
  });

  it.each<[string, object]>([
    ["a name with other characters", { name: "Not a name" }],
    ["the name random", { name: "random" }],
    ["an unknown field", { name: "a", webhoks: [] }],
    ["a negative delay", { name: "a", webhooks: [{ delayMs: -1 }] }],
    ["nothing", {}],
  ])("are refused with %s, and nothing changes", (_what, scenario) => {
    const sandbox = createSandbox();
    expect(() => sandbox.scenario(scenario as Scenario)).toThrow(misuse);
    expect(() => sandbox.addScenario(scenario as Scenario)).toThrow(misuse);
    expect([sandbox.currentScenario, sandbox.scenarios.length]).toEqual(["normal", catalogue.length + 1]);
    expect(() => createSandbox({ scenarios: [scenario as Scenario] })).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
  });

  it("are refused by an unknown name", () => {
    const sandbox = createSandbox();
    expect(() => sandbox.scenario("webhook-sometimes")).toThrow(misuse);
    expect(() => sandbox.scenario("randon")).toThrow("Did you mean random?");
    expect(() => sandbox.scenario("webhook-sometimes", { for: "c-1" })).toThrow(misuse);
    expect(() => createSandbox({ scenario: "webhook-sometimes" })).toThrow(/webhook-never/);
  });

  it("are forgotten where an earlier version saved a name that this one does not have", () => {
    const registry = new ScenarioRegistry(createRandom("1", "scenarios"), [], "normal");
    const saved = { scenarios: [], assigned: { "c-1": "webhook-sometimes" } };
    registry.restore({ ...saved, scenario: "webhook-sometimes" }, { scenario: false });
    expect(registry.current).toBe("normal");
    registry.restore({ ...saved, scenario: "webhook-never" }, { scenario: false });
    expect(registry.current).toBe("webhook-never");
  });

  it("behave like the normal scenario where they are empty", async () => {
    const merchant = await Merchant.open();
    const sandbox = createSandbox({ scenario: { name: "empty" }, webhookUrls: [merchant.webhookUrl] });
    await createPayment(sandbox, merchant, "c-1");
    expect(await sandbox.pay("c-1")).toMatchObject([{ status: 200 }]);
    await sandbox.close();
    await merchant.close();
  });
});

describe("the catalogue", () => {
  it("has a sentence for every scenario, and every name once", () => {
    const names = catalogue.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { about } of catalogue) expect(about).toMatch(/^[A-Z].*\.$/);
  });
});
