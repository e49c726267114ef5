import { Handlers } from "../../src/dispatch/handlers.js";
import { type HandlerOptions } from "../../src/dispatch/handler.js";

let handlers: Handlers<unknown>;
beforeEach(() => (handlers = new Handlers()));
const run = () => undefined;

describe("a handler's name", () => {
  it("is the event's name, or any for all events, where none is given", () => {
    handlers.add("payment.completed", run);
    handlers.add("*", run);
    expect(handlers.keys()).toEqual([
      { event: "payment.completed", name: "payment.completed" },
      { event: "*", name: "any" },
    ]);
    expect(handlers.size).toBe(2);
  });

  it.each(["a", "A-Z.a_z:0-9", "x".repeat(64)])("can be %j", (name) => {
    handlers.add("payment.completed", run, { name });
    expect(handlers.keys()).toEqual([{ event: "payment.completed", name }]);
  });

  it.each(["", "two names", "é", "books\n", " books", "x".repeat(65)])("cannot be %j", (name) => {
    expect(() => handlers.add("payment.completed", run, { name })).toThrow(
      expect.objectContaining({ code: "option_invalid", fix: expect.stringContaining("1 to 64") }),
    );
    expect(handlers.size).toBe(0);
  });
});

describe("a handler's options", () => {
  it.each([
    { timeoutMs: 0 },
    { timeoutMs: 1.5 },
    { timeoutMs: 2 ** 31 },
    { timeoutMs: "20" },
    { timoutMs: 20 },
    { transaction: "own" },
  ])("cannot be %j", (options) => {
    expect(() => handlers.add("payment.completed", run, options as HandlerOptions)).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
    expect(handlers.size).toBe(0);
  });

  it.each([1, 2 ** 31 - 1, undefined])("keep a time limit of %j", (timeoutMs) => {
    handlers.add("payment.completed", run, { timeoutMs });
    expect(handlers.find("payment.completed", "payment.completed")).toMatchObject({ run, timeoutMs });
  });
});

describe("two handlers of one name", () => {
  const name = "books";

  it.each([
    ["payment.completed", "payment.completed"],
    ["payment.completed", "*"],
    ["*", "payment.completed"],
    ["*", "*"],
  ] as const)("are refused for %s and %s, because one dispatch would be for both", (first, second) => {
    handlers.add(first, run, { name });
    handlers.add("payment.overdue", run, { name: "other" });
    expect(() => handlers.add(second, run, { name })).toThrow(
      expect.objectContaining({ code: "handler_name_taken" }),
    );
    expect(handlers.size).toBe(2);
  });

  it("can be for two events, and each is found for its own", () => {
    const [completed, overdue] = [() => 1, () => 2];
    handlers.add("payment.completed", completed, { name });
    handlers.add("payment.overdue", overdue, { name });
    handlers.add("*", run, { name: "all" });
    expect(handlers.find("payment.completed", name)?.run).toBe(completed);
    expect(handlers.find("payment.overdue", name)?.run).toBe(overdue);
    expect(handlers.find("payment.updated", name)).toBeUndefined();
    expect(handlers.find("payment.completed", "nobody")).toBeUndefined();
    expect(handlers.find("payment.updated", "all")?.run).toBe(run);
    expect(handlers.has(name)).toBe(true);
    expect(handlers.has(name, "payment.overdue")).toBe(true);
    expect(handlers.has(name, "payment.updated")).toBe(false);
    expect(handlers.has("all", "payment.updated")).toBe(true);
    expect(handlers.has("nobody")).toBe(false);
  });

  it("have one entry for all their keys where they may share transactions", () => {
    handlers.add("payment.completed", run, { name, transaction: "shared" });
    handlers.add("payment.overdue", run, { name, transaction: "shared" });
    handlers.add("payment.overdue", run, { name: "mail" });
    expect([...handlers.sharedKeys()]).toEqual([[name, handlers.keys().slice(0, 2)]]);
  });
});
