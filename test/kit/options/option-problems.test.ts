import { MemoryStore } from "tillkit";
import { problemsOf } from "../../../src/kit/options/option-problems.js";
import { testOptions } from "../../support/kit.js";

/** Returns the problems of complete options with these changes, which the compiler would refuse. */
function problems(changes: object, environment: NodeJS.ProcessEnv = {}) {
  return problemsOf({ ...testOptions(), ...changes }, environment);
}

/** Returns the option and the code of each problem. */
const found = (...given: Parameters<typeof problems>) =>
  problems(...given).map(({ option, code }) => [option, code]);

const verify = () => true;
const maxTimerMs = 2 ** 31 - 1;
const hundredYearsMs = 36_525 * 24 * 3_600_000;

it("complete options have no problem", () => {
  expect(found({})).toEqual([]);
});

describe("a part that cannot be used is refused:", () => {
  it.each<[string, object, string, string]>([
    ["no signature", { signature: undefined }, "signature", "option_missing"],
    ["a scheme without a header", { signature: { verify, covers: "body" } }, "signature", "option_invalid"],
    [
      "a scheme with an empty header",
      { signature: { header: "", verify, covers: "body" } },
      "signature",
      "option_invalid",
    ],
    [
      "a scheme without a verify function",
      { signature: { header: "x-own", covers: "body" } },
      "signature",
      "option_invalid",
    ],
    ["no store", { store: undefined }, "store", "option_missing"],
    ["a store without methods", { store: {} }, "store", "option_invalid"],
    [
      "a store that lacks one method",
      { store: Object.assign(new MemoryStore(), { claim: undefined }) },
      "store",
      "option_invalid",
    ],
    ["a spool without a directory", { spool: {} }, "spool.directory", "option_missing"],
    ["a spool in an empty name", { spool: { directory: "" } }, "spool.directory", "option_missing"],
    ["a spool in a blank name", { spool: { directory: " \t" } }, "spool.directory", "option_missing"],
    ["a spool in a number", { spool: { directory: 7 } }, "spool.directory", "option_missing"],
    ["null as a limit of failures", { webhook: { failures: null } }, "webhook.failures", "option_invalid"],
    ["a number as a limit of failures", { webhook: { failures: 7 } }, "webhook.failures", "option_invalid"],
    ["true as a limit of failures", { webhook: { failures: true } }, "webhook.failures", "option_invalid"],
    ["a string as paths", { paths: "/pay" }, "paths", "option_invalid"],
    ["a number as webhook", { webhook: 7 }, "webhook", "option_invalid"],
    ["a list as returns", { returns: [] }, "returns", "option_invalid"],
    ["null as returns", { returns: null }, "returns", "option_invalid"],
    ["false as health", { health: false }, "health", "option_invalid"],
    ["a string as spool", { spool: "./spool" }, "spool", "option_invalid"],
    ["true as dispatch", { dispatch: true }, "dispatch", "option_invalid"],
    ["a string as a renderer", { returns: { render: "page" } }, "returns.render", "option_invalid"],
    ["a time as a clock", { now: new Date() }, "now", "option_invalid"],
    ["a clock of milliseconds", { now: () => 1_800_000_000_000 }, "now", "option_invalid"],
    ["a clock without a time", { now: () => new Date(NaN) }, "now", "option_invalid"],
    ["the console as a logger", { logger: console }, "logger", "option_invalid"],
    ["true as a logger", { logger: true }, "logger", "option_invalid"],
    ["null as lookup", { lookup: null }, "lookup", "option_invalid"],
    ["a string as lookup", { lookup: "on" }, "lookup", "option_invalid"],
    ["a number as a prefix", { clientIdPrefix: 7 }, "clientIdPrefix", "option_invalid"],
    ["an empty prefix", { clientIdPrefix: "" }, "clientIdPrefix", "option_invalid"],
    ["a prefix with a space", { clientIdPrefix: "a b" }, "clientIdPrefix", "option_invalid"],
    ["a prefix of 25 characters", { clientIdPrefix: "a".repeat(25) }, "clientIdPrefix", "option_invalid"],
    ["another confirmation", { confirm: "yes", lookup: true }, "confirm", "option_invalid"],
    ["a confirmation without lookups", { confirm: "lookup" }, "confirm", "option_invalid"],
  ])("%s", (_, changes, option, code) => {
    expect(found(changes)).toEqual([[option, code]]);
  });

  it("a store that is not durable, in production only", () => {
    const production = { NODE_ENV: "production" };
    const durable = Object.assign(new MemoryStore(), { durable: true });
    expect(found({}, production)).toEqual([["store", "store_not_durable"]]);
    expect(found({}, { NODE_ENV: "development" })).toEqual([]);
    expect(found({ store: durable }, production)).toEqual([]);
  });

  it("a directory for refused webhooks, in production unless that is said too", () => {
    const production = { NODE_ENV: "production" };
    const store = Object.assign(new MemoryStore(), { durable: true });
    const of = (keepRefused: unknown, environment: object = production) =>
      found({ store, webhook: { keepRefused } }, environment as NodeJS.ProcessEnv);
    const refused = [["webhook.keepRefused", "option_invalid"]];
    expect(of("./refused")).toEqual(refused);
    expect(of({ directory: "./refused" })).toEqual(refused);
    expect(of({ directory: "./refused", inProduction: true })).toEqual([]);
    expect(of("./refused", {})).toEqual([]);
    for (const wrong of ["", " ", 7, null, false, {}, { directory: "a", inProduction: "yes" }])
      expect(of(wrong, {})).toEqual(refused);
    expect(of({ directory: "a", inproduction: true }, {})).toEqual([
      ["webhook.keepRefused.inproduction", "option_invalid"],
    ]);
  });
});

it("the methods that a store lacks are named, and no others", () => {
  const store = Object.assign(new MemoryStore(), { claim: undefined, settle: 7 });
  expect(problems({ store })[0]!.message).toMatch(/ the methods claim, settle\. /);
});

it.each<[string, object]>([
  ["a scheme of the merchant's own", { signature: { header: "x-own", verify, covers: "body" } }],
  ["limits of failures", { webhook: { failures: { perMinute: 1, burst: 1 } } }],
  ["no limit of failures", { webhook: { failures: false } }],
  ["lookup: true", { lookup: true }],
  ["lookup: false", { lookup: false }],
  ["options of lookup", { lookup: { afterMs: 1 } }],
  ["a confirmation by lookup", { lookup: true, confirm: "lookup" }],
  ["dispatch: false", { dispatch: false }],
  ["spool: false", { spool: false }],
  ["a spool", { spool: { directory: "spool", maxBytes: 1 } }],
  ["a prefix", { clientIdPrefix: "north-" }],
])("%s is accepted", (_, changes) => {
  expect(found(changes)).toEqual([]);
});

describe("a number", () => {
  const timers = [
    ["webhook", "recordTimeoutMs"],
    ["webhook", "bodyTimeoutMs"],
    ["dispatch", "pollMs"],
    ["dispatch", "leaseMs"],
    ["dispatch", "handlerTimeoutMs"],
    ["lookup", "timeoutMs"],
    ["lookup", "afterReturnMs"],
    ["service", "timeoutMs"],
  ] as const;
  const others = [
    ["webhook", "limitBytes"],
    ["spool", "maxBytes"],
    ["dispatch", "concurrency"],
    ["dispatch", "maxLostLeases"],
    ["dispatch", "maxFailures"],
  ] as const;
  const durations = [
    ["health", "spoolingDownAfterMs"],
    ["dispatch", "firstDelayMs"],
    ["dispatch", "maxDelayMs"],
    ["lookup", "afterMs"],
    ["lookup", "maxDelayMs"],
    ["lookup", "giveUpAfterMs"],
  ] as const;
  const rest = { service: testOptions().service, spool: { directory: "spool" } };
  const inside = (group: string, name: string, value: unknown) => ({
    [group]: { ...(rest as Record<string, object>)[group], [name]: value },
  });

  it.each([...timers, ...durations, ...others])("%s.%s must be whole and at least 1", (group, name) => {
    for (const value of [0, -1, 1.5, "1", null, Number.NaN])
      expect(found(inside(group, name, value))).toEqual([[`${group}.${name}`, "option_invalid"]]);
    expect(found(inside(group, name, 1))).toEqual([]);
  });

  it.each(timers)("%s.%s must not be longer than a timer of Node can wait", (group, name) => {
    expect(found(inside(group, name, maxTimerMs))).toEqual([]);
    expect(found(inside(group, name, maxTimerMs + 1))).toEqual([[`${group}.${name}`, "option_invalid"]]);
  });

  it.each(durations)("%s.%s must not be longer than a hundred years", (group, name) => {
    expect(found(inside(group, name, hundredYearsMs))).toEqual([]);
    expect(problems(inside(group, name, hundredYearsMs + 1))).toEqual([
      {
        code: "option_invalid",
        option: `${group}.${name}`,
        message: "must be a whole number from 1 to 3155760000000.",
      },
    ]);
  });

  it.each(others)("%s.%s may be any safe whole number", (group, name) => {
    expect(found(inside(group, name, Number.MAX_SAFE_INTEGER))).toEqual([]);
    expect(found(inside(group, name, 2 ** 53))).toEqual([[`${group}.${name}`, "option_invalid"]]);
  });

  it.each(["perMinute", "burst"])("webhook.failures.%s must be whole and at least 1", (name) => {
    expect(found({ webhook: { failures: { [name]: 0 } } })).toEqual([
      [`webhook.failures.${name}`, "option_invalid"],
    ]);
  });

  it.each([
    ["reuseForMs", hundredYearsMs],
    ["overdueMs", hundredYearsMs],
    ["unmatchedAfterMs", hundredYearsMs],
    ["attentionReminderMs", hundredYearsMs],
    ["sweepMs", maxTimerMs],
  ])("%s must be from 1 to %d", (name, max) => {
    for (const value of [1, max]) expect(found({ [name]: value })).toEqual([]);
    for (const value of [0, max + 1]) expect(found({ [name]: value })).toEqual([[name, "option_invalid"]]);
  });

  it("lookup.perSecond must be from 1 to 10,000", () => {
    expect(found({ lookup: { perSecond: 10_000 } })).toEqual([]);
    expect(found({ lookup: { perSecond: 10_001 } })).toEqual([["lookup.perSecond", "option_invalid"]]);
  });
});

describe.each(["backUrl", "orderUrl", "successUrl", "cancelUrl"])("returns.%s", (name) => {
  it.each([
    "/",
    "/orders/{reference}",
    "/orders?id={clientId}&of={reference}",
    "http://shop.example/orders",
    "https://shop.example",
    "https://s/orders/{reference}",
    "https://shop.example?order={reference}",
    "https://shop.example#{clientId}",
  ])("may be %s", (address) => {
    expect(found({ returns: { [name]: address } })).toEqual([]);
  });

  it.each([
    ["", "must be a path"],
    [7, "must be a path"],
    [null, "must be a path"],
    [["/orders"], "must be a path"],
    ["orders", "must be a path"],
    ["shop.example/orders", "must be a path"],
    ["//elsewhere.example", "must be a path"],
    ["/\\elsewhere.example", "must be a path"],
    ["/orders\\elsewhere", "must be a path"],
    ["/orders of today", "must be a path"],
    ["/orders\u0000", "must be a path"],
    ["/orders\uD800", "must be a path"],
    ["javascript:https://shop.example", "must be a path"],
    ["ftp://shop.example/orders", "must be a path"],
    ["https://", "must be a path"],
    ["https:///orders", "must be a path"],
    ["https://shop.example@elsewhere.example", "must be a path"],
    ["https://shop.{reference}", "must be a path"],
    ["https://shop.example/orders\\elsewhere", "must be a path"],
    ["/orders/{}", "placeholder {}"],
    ["/orders/{order}", "placeholder {order}"],
  ])("must not be %j", (address, reason) => {
    expect(problems({ returns: { [name]: address } })).toEqual([
      {
        option: `returns.${name}`,
        code: "option_invalid",
        message: expect.stringContaining(reason) as string,
      },
    ]);
  });
});

describe("the look of the pages", () => {
  it.each([
    ["shopName", "A"],
    ["contact", "+269 773 00 00"],
    ["backLabel", "a".repeat(200)],
    ["accent", "#0B6650"],
    ["logoUrl", "/logo.svg"],
    ["logoUrl", "https://cdn.shop.example:8443/logo.svg"],
  ])("may have the %s %j", (name, value) => {
    expect(found({ returns: { [name]: value } })).toEqual([]);
  });

  it.each([
    ["shopName", ""],
    ["shopName", 7],
    ["shopName", "A\u0007B"],
    ["contact", 7],
    ["backLabel", "a".repeat(201)],
    ["accent", "green"],
    ["accent", "#0b66501"],
    ["logoUrl", "http://cdn.shop.example/logo.svg"],
    ["logoUrl", "//cdn.shop.example/logo.svg"],
    ["logoUrl", "/logo of the shop.svg"],
  ])("must not have the %s %j", (name, value) => {
    expect(found({ returns: { [name]: value } })).toEqual([[`returns.${name}`, "option_invalid"]]);
  });
});

describe("the paths", () => {
  it.each<[string, object]>([
    ["of several parts", { webhook: "/pay/webhook", success: "/pay/success" }],
    ["with dots inside of a part", { webhook: "/v1.2/.hook" }],
    ["of which one begins with the characters of another", { webhook: "/pay", success: "/payment" }],
    ["that are undefined", { webhook: undefined }],
  ])("%s are accepted", (_, paths) => {
    expect(found({ paths })).toEqual([]);
  });

  it.each([
    7,
    ["/hook"],
    "",
    "/",
    "hook",
    "pay/hook",
    "/hook/",
    "/hook/:id",
    "/ho ok",
    "/.",
    "/..",
    "/../hook",
    "/pay/./hook",
    "/pay/..",
  ])("must not contain %j", (webhook) => {
    expect(found({ paths: { webhook } })).toEqual([["paths.webhook", "option_invalid"]]);
  });

  it.each<[string, object, string[]]>([
    ["the same", { webhook: "/pay", success: "/pay" }, ["paths.webhook", "paths.success"]],
    ["the same but for capitals", { cancel: "/WEBHOOK" }, ["paths.webhook", "paths.cancel"]],
    ["one below the other", { success: "/webhook/success" }, ["paths.success"]],
    ["one below the other but for capitals", { webhook: "/Success/hook" }, ["paths.webhook"]],
  ])("must not be %s", (_, paths, options) => {
    expect(found({ paths })).toEqual(options.map((option) => [option, "option_invalid"]));
  });

  it("have only known names", () => {
    expect(found({ paths: { webhok: "/hook" } })).toEqual([["paths.webhok", "option_invalid"]]);
  });
});
