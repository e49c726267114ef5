import { inspect } from "node:util";
import { ConfigurationError, createPayments, type PaymentServiceOptions } from "tillkit";
import { problemsOf } from "../../../src/kit/options/option-problems.js";
import { createPaymentService } from "../../../src/service/index.js";
import { testOptions } from "../../support/kit.js";

const good: PaymentServiceOptions = { baseUrl: "https://api.pay.example/kit/", accessToken: "tok-1" };
const optionsWith = (service: PaymentServiceOptions | undefined) => ({
  ...testOptions(),
  service: service as PaymentServiceOptions,
});
const serviceProblems = (service: PaymentServiceOptions | undefined) => problemsOf(optionsWith(service), {});
const codes = (changes: object) =>
  serviceProblems(Object.assign({}, good, changes)).map(({ code, option }) => [option, code]);

describe("the options of the service", () => {
  it("accept an https address and a token, and undefined where there is a default", () => {
    expect(serviceProblems(good)).toEqual([]);
    expect(serviceProblems({ ...good, timeoutMs: undefined, fetch: undefined })).toEqual([]);
  });

  it("are both reported as missing where there are no options", () => {
    expect(serviceProblems(undefined).map(({ option }) => option)).toEqual([
      "service.baseUrl",
      "service.accessToken",
    ]);
  });

  it.each([
    { baseUrl: undefined, accessToken: undefined },
    { baseUrl: " ", accessToken: "\n" },
    { baseUrl: null, accessToken: null },
  ])("are both reported as missing in %j", (options) => {
    expect(codes(options)).toEqual([
      ["service.baseUrl", "option_missing"],
      ["service.accessToken", "option_missing"],
    ]);
  });

  it.each([
    "api.pay.example",
    "/v1",
    "http://api.pay.example",
    "http://127.0.0.1.evil.example",
    "http://pay.localhost",
    "ftp://api.pay.example",
    "https:api.pay.example",
    "https://api.pay.example/a b",
    "https://api.pay.example\n",
    "https://user:hunter2@api.pay.example",
    "https://hunter2@api.pay.example",
    "https://:hunter2@api.pay.example",
    "xhttp://localhost:4000",
    "x-https://localhost",
    "https://api.pay.example?key=hunter2",
    "https://api.pay.example/#",
    7,
  ])("refuse the base address %j without repeating it", (baseUrl) => {
    expect(codes({ baseUrl })).toEqual([["service.baseUrl", "option_invalid"]]);
    expect(JSON.stringify(serviceProblems(Object.assign({}, good, { baseUrl })))).not.toContain("hunter2");
  });

  it("refuse a list with a base address", () => {
    expect(codes({ baseUrl: ["https://api.pay.example"] })).toEqual([["service.baseUrl", "option_invalid"]]);
  });

  it("refuse an unknown name under its path", () => {
    expect(codes({ timeout: 5 })).toEqual([["service.timeout", "option_invalid"]]);
  });

  it.each([
    "http://localhost:4000",
    "http://127.0.0.1",
    "http://127.9.9.9:1/",
    "http://[::1]:4000",
    "HTTPS://a.example",
  ])("accept the base address %s", (baseUrl) => {
    expect(codes({ baseUrl })).toEqual([]);
  });

  it.each(["a b", "tok\n", "Bearer tok", "t\u0000k", "tök", 7, {}, { get: "tok" }])(
    "refuse the access token %j without repeating it",
    (accessToken) => {
      expect(codes({ accessToken })).toEqual([["service.accessToken", "option_invalid"]]);
    },
  );

  it("accept a function or a source as access token", () => {
    expect(codes({ accessToken: () => "tok" })).toEqual([]);
    expect(codes({ accessToken: { get: async () => "tok" } })).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 31, "10"])("refuse a timeoutMs of %p", (timeoutMs) => {
    expect(codes({ timeoutMs })).toEqual([["service.timeoutMs", "option_invalid"]]);
  });

  it("refuse a fetch that is not a function", () => {
    expect(codes({ fetch: "fetch" })).toEqual([["service.fetch", "option_invalid"]]);
  });

  it("refuse a sandbox token when NODE_ENV is production, and only then", () => {
    const { NODE_ENV } = process.env;
    try {
      process.env.NODE_ENV = "production";
      expect(codes({ accessToken: "sandbox_abc" })).toEqual([
        ["service.accessToken", "sandbox_credential_in_production"],
      ]);
    } finally {
      process.env.NODE_ENV = NODE_ENV;
    }
    expect(codes({ accessToken: "sandbox_abc" })).toEqual([]);
  });

  it("stop createPayments with every problem in one error", () => {
    const bad = { baseUrl: "http://api.pay.example", accessToken: undefined, timeoutMs: 0 };
    const construct = () => createPayments(optionsWith(bad));
    expect(construct).toThrow(ConfigurationError);
    expect(construct).toThrow(expect.objectContaining({ code: "configuration_invalid" }));
    expect(construct).toThrow(/service\.baseUrl[^]*service\.accessToken[^]*service\.timeoutMs/);
  });

  it.each([{ baseUrl: "http://api.pay.example" }, { timeoutMs: 0 }, { accessToken: "a b" }])(
    "stop createPayments with one problem: %j",
    (changes) => {
      expect(() => createPayments(optionsWith({ ...good, ...changes }))).toThrow(ConfigurationError);
    },
  );

  it("do not show in the service when it is printed", () => {
    const service = createPaymentService({ ...good, timeoutMs: 5000 });
    expect(inspect(service, { showHidden: true, depth: 9 }) + JSON.stringify(service)).not.toContain("tok-1");
  });
});
