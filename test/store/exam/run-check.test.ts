import { MemoryStore } from "tillkit";
import { until } from "../../../src/store/exam/checks/steps.js";
import { runCheck } from "../../../src/store/exam/run-check.js";

const circle: { inner?: object } = {};
circle.inner = circle;

describe("the calls of a failed check", () => {
  it.each([
    ["returns a BigInt", async () => ({ insertId: 1n }), 'registerHandlers([]) → {"insertId":"1n"}'],
    ["returns a circle", async () => circle, "registerHandlers([]) → [object Object]"],
    ["rejects with a BigInt", () => Promise.reject(1n), 'registerHandlers([]) → rejects: "1n"'],
    ["rejects with a bare object", () => Promise.reject(Object.create(null) as never), "rejects: {}"],
  ])("show one that %s", async (_, registerHandlers, shown) => {
    const { outcome, calls } = await runCheck(
      [
        "it is known",
        async (store) => {
          await store.registerHandlers([]).catch(() => {});
          throw new Error("it is not");
        },
        "registerHandlers",
      ],
      {
        create: async () => Object.assign(new MemoryStore(), { registerHandlers: registerHandlers as never }),
      },
    );
    expect(outcome).toBe("failed");
    expect(calls).toEqual([expect.stringContaining(shown)]);
  });
});

describe("the stores of a check", () => {
  const fail = () => Promise.reject(new Error("it fails"));

  it.each([
    ["opened", "it fails", fail],
    ["closed", "close rejected: it fails.", async () => Object.assign(new MemoryStore(), { close: fail })],
  ])("are closed and removed where the second cannot be %s", async (_, reason, reopen) => {
    const ended: string[] = [];
    const result = await runCheck(["it is known", async (store) => void (await store.find("c1")), "save"], {
      create: async () => Object.assign(new MemoryStore(), { close: async () => void ended.push("closed") }),
      reopen,
      remove: async () => void ended.push("removed"),
    });
    expect(result).toMatchObject({ outcome: "failed", reason });
    expect(ended).toEqual(["closed", "removed"]);
  });

  it("do not hide why the check failed when they cannot be closed either", async () => {
    const check = () => Promise.reject(new Error("it is not"));
    const create = async () => Object.assign(new MemoryStore(), { close: fail });
    const result = await runCheck(["it is known", check, "save"], { create });
    expect(result).toMatchObject({ outcome: "failed", reason: "it is not" });
  });

  it("are the one that was made and the one that was reopened", async () => {
    const open = (name: string) => async () =>
      Object.assign(new MemoryStore(), { warnings: async () => [name] });
    const check = async (...stores: MemoryStore[]) => {
      const found = await Promise.all(stores.slice(0, 2).map((store) => store.warnings()));
      expect(found).toEqual([["first"], ["second"]]);
    };
    const factory = { create: open("first"), reopen: open("second") };
    expect(await runCheck(["it is known", check as never, "save"], factory)).toMatchObject({
      outcome: "passed",
    });
  });

  it("are both closed after the check", async () => {
    const ended: string[] = [];
    const open = (name: string) => async () =>
      Object.assign(new MemoryStore(), { close: async () => void ended.push(name) });
    const check = async () => {};
    await runCheck(["it is known", check, "save"], { create: open("first"), reopen: open("second") });
    expect(ended).toEqual(["second", "first"]);
  });
});

it("a failed check shows its last 15 calls", async () => {
  const check = async (store: MemoryStore) => {
    for (let call = 1; call <= 20; call++) await store.find(`c-${call}`);
    throw new Error("it is not");
  };
  const { calls } = await runCheck(["it is known", check as never, "save"], {
    create: async () => new MemoryStore(),
  });
  expect(calls).toHaveLength(15);
  expect([calls!.at(0), calls!.at(-1)]).toEqual([
    'store.find("c-6") → undefined',
    'store.find("c-20") → undefined',
  ]);
});

describe("a check that waits", () => {
  afterEach(() => jest.restoreAllMocks());

  it("asks once more where an answer took longer than the wait", async () => {
    let [now, asked] = [0, 0];
    jest.spyOn(performance, "now").mockImplementation(() => now);
    const slow = async () => ((now += 4000), (asked += 1) > 1 ? "there" : undefined);
    await expect(until(slow)).resolves.toBe("there");
  });

  it("ends where the last answer has no value either", async () => {
    let now = 0;
    jest.spyOn(performance, "now").mockImplementation(() => now);
    await expect(until(async () => void (now += 4000))).rejects.toThrow("Not so within 3 seconds.");
  });
});
