import { createPayments, paymentRouter, type PaymentsOptions } from "tillkit";
import { closeAll, testOptions } from "../../support/kit.js";

afterEach(closeAll);

describe("the options", () => {
  it("are refused with all problems in one error", () => {
    const wrong = {
      publicUrl: undefined,
      service: { baseUrl: "ftp://pay", accessToken: "" },
      signature: undefined,
      store: undefined,
      webhook: { limitBytes: Number.NaN },
      dispatch: { concurrency: 0 },
    } satisfies PaymentsOptions;
    expect(() => createPayments(wrong)).toThrow(
      expect.objectContaining({
        code: "configuration_invalid",
        problems: [
          expect.objectContaining({ option: "publicUrl", code: "option_missing" }),
          expect.objectContaining({ option: "service.baseUrl", code: "option_invalid" }),
          expect.objectContaining({ option: "service.accessToken", code: "option_missing" }),
          expect.objectContaining({ option: "signature", code: "option_missing" }),
          expect.objectContaining({ option: "store", code: "option_missing" }),
          expect.objectContaining({ option: "webhook.limitBytes", code: "option_invalid" }),
          expect.objectContaining({ option: "dispatch.concurrency", code: "option_invalid" }),
        ],
      }),
    );
  });

  it.each([undefined, null])("are all reported as missing where they are %p", (nothing) => {
    expect(() => createPayments(nothing as never)).toThrow(
      expect.objectContaining({
        code: "configuration_invalid",
        problems: ["publicUrl", "service.baseUrl", "service.accessToken", "signature", "store"].map(
          (option) => expect.objectContaining({ option, code: "option_missing" }) as object,
        ),
      }),
    );
  });

  it.each([["64kb"], ["1e9x"], [0], [-1], [Number.POSITIVE_INFINITY], [1.5]])(
    "refuse a body limit of %p, which must never come to mean no limit (CVE-2026-12590)",
    (limitBytes) => {
      const options = testOptions({ webhook: { limitBytes: limitBytes as number } });
      expect(() => createPayments(options)).toThrow(/webhook\.limitBytes/);
    },
  );

  it("refuse a scheme of the merchant's own that covers too little", () => {
    const signature = { header: "x-own", covers: ["id", "status"] as const, verify: () => true };
    expect(() => createPayments(testOptions({ signature }))).toThrow(
      expect.objectContaining({ code: "signature_coverage_too_small" }),
    );
  });

  it("treat undefined as absent", () => {
    const payments = createPayments(
      testOptions({ overdueMs: undefined, dispatch: { concurrency: undefined } }),
    );
    expect(payments.options).toMatchObject({ overdueMs: 86_400_000, dispatch: { concurrency: 8 } });
  });

  it("may contain the onPaymentCompleted handler, and the router exposes its kit", () => {
    const router = paymentRouter({ ...testOptions(), onPaymentCompleted: () => {} });
    expect(() => router.payments.onPaymentCompleted(() => {})).toThrow(/registered/);
  });
});
