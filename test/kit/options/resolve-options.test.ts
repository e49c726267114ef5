import { MemoryStore, type PaymentsOptions } from "tillkit";
import { resolveOptions } from "../../../src/kit/options/resolve-options.js";
import { testOptions } from "../../support/kit.js";

/** Returns complete options with these changes, with the defaults filled in. */
const resolved = (changes: Partial<PaymentsOptions> = {}) => resolveOptions(testOptions(changes));

it.each([
  ["https://shop.example/payments", "https://shop.example/payments"],
  ["https://shop.example/payments/", "https://shop.example/payments"],
  ["https://shop.example/payments///", "https://shop.example/payments"],
  ["https://shop.example/", "https://shop.example"],
])("the publicUrl %s loses its slashes at the end", (publicUrl, expected) => {
  expect(resolved({ publicUrl }).publicUrl).toBe(expected);
});

describe("webhook.failures", () => {
  it.each<[string, PaymentsOptions["webhook"], object | undefined]>([
    ["has its defaults where webhook is not given", undefined, { perMinute: 60, burst: 100 }],
    ["has its defaults where it is undefined", { failures: undefined }, { perMinute: 60, burst: 100 }],
    ["has the default of what is not given", { failures: { burst: 7 } }, { perMinute: 60, burst: 7 }],
    ["is absent where it is false", { failures: false }, undefined],
  ])("%s", (_, webhook, expected) => {
    expect(resolved({ webhook }).webhook.failures).toEqual(expected);
  });
});

it.each<[PaymentsOptions["webhook"], string | undefined]>([
  [undefined, undefined],
  [{ keepRefused: "./refused" }, "./refused"],
  [{ keepRefused: { directory: "./refused", inProduction: true } }, "./refused"],
])("the directory of refused webhooks with %j is %j", (webhook, directory) => {
  expect(resolved({ webhook }).webhook.keepRefused).toBe(directory);
});

describe("dispatch", () => {
  it.each<[string, PaymentsOptions["dispatch"], number, boolean]>([
    ["calls handlers by the defaults where it is not given", undefined, 8, true],
    ["calls handlers by the given options", { concurrency: 3 }, 3, true],
    ["calls no handlers where it is false", false, 8, false],
  ])("%s", (_, dispatch, concurrency, dispatches) => {
    expect(resolved({ dispatch })).toMatchObject({ dispatch: { concurrency, pollMs: 1000 }, dispatches });
  });
});

describe("lookup", () => {
  it.each<[string, PaymentsOptions["lookup"], object | undefined]>([
    ["is absent where it is not given", undefined, undefined],
    ["is absent where it is false", false, undefined],
    ["has its defaults where it is true", true, { afterMs: 120_000, perSecond: 5 }],
    ["has the default of what is not given", { afterMs: 7 }, { afterMs: 7, perSecond: 5 }],
  ])("%s", (_, lookup, expected) => {
    const { lookup: found } = resolved({ lookup });
    expect(found && { afterMs: found.afterMs, perSecond: found.perSecond }).toEqual(expected);
  });
});

describe("the spool", () => {
  const spoolOf = (spool: PaymentsOptions["spool"], spoolDirectory?: string) =>
    resolved({ spool, store: Object.assign(new MemoryStore(), { spoolDirectory }) as never }).spool;
  const maxBytes = 67_108_864;

  it.each<[string, PaymentsOptions["spool"], string | undefined, object | undefined]>([
    ["is absent where neither the options nor the store name a directory", undefined, undefined, undefined],
    ["is in the store's directory", undefined, "of-store", { directory: "of-store", maxBytes }],
    [
      "is in the store's directory, with a size of its own",
      { maxBytes: 7 },
      "of-store",
      { directory: "of-store", maxBytes: 7 },
    ],
    [
      "is in the directory of the options, which win over the store",
      { directory: "of-options", maxBytes: 7 },
      "of-store",
      { directory: "of-options", maxBytes: 7 },
    ],
    [
      "has the default size where it is undefined",
      { directory: "of-options", maxBytes: undefined },
      undefined,
      { directory: "of-options", maxBytes },
    ],
    ["is absent where it is false, also if the store names a directory", false, "of-store", undefined],
  ])("%s", (_, spool, ofStore, expected) => {
    expect(spoolOf(spool, ofStore)).toEqual(expected);
  });
});

it("other options are taken over, and the clock is the system's where none is given", () => {
  const now = () => new Date(0);
  const given = {
    clientIdPrefix: "north-",
    confirm: "lookup",
    lookup: true,
    returns: { shopName: "A" },
    health: { spoolingDownAfterMs: 7 },
  } as const;
  expect(
    resolved({ ...given, now, sweepMs: 7, service: { ...testOptions().service, timeoutMs: 7 } }),
  ).toMatchObject({
    ...given,
    lookup: {},
    now,
    sweepMs: 7,
    logger: false,
    service: { baseUrl: "https://pay.invalid", timeoutMs: 7 },
  });
  const before = Date.now();
  expect(resolved().now().getTime()).toBeGreaterThanOrEqual(before);
});

it("options in objects of classes may be accessors", () => {
  class Service {
    get baseUrl() {
      return "https://pay.example";
    }
    get accessToken() {
      return "a-token";
    }
  }
  class Webhook {
    get limitBytes() {
      return 100;
    }
  }
  class Returns {
    get shopName() {
      return "A";
    }
  }
  const given = { service: new Service(), webhook: new Webhook(), returns: new Returns() };
  expect(resolved(given)).toMatchObject({
    returns: { shopName: "A" },
    service: { baseUrl: "https://pay.example", timeoutMs: 10_000 },
    webhook: { limitBytes: 100 },
  });
});

it("options with a problem are refused, by the given environment", () => {
  expect(() => resolveOptions(testOptions({ publicUrl: undefined }))).toThrow(
    expect.objectContaining({ problems: [expect.objectContaining({ option: "publicUrl" })] }),
  );
  expect(() => resolveOptions(testOptions(), { NODE_ENV: "production" })).toThrow(
    expect.objectContaining({ code: "store_not_durable" }),
  );
});
