import { createSandbox } from "../../../src/sandbox/index.js";
import { shopVariables } from "../../../src/sandbox/state/shop-variables.js";

const client = { clientId: "shop", clientSecret: "sandbox_client" };
const known = { url: "http://localhost:4000", client };

describe("shopVariables", () => {
  it("leaves out what the kit assumes by itself", () => {
    const { signing } = createSandbox({
      signature: { scheme: "hmac", secret: "sandbox_first_secret_0123456789" },
    });
    expect(shopVariables({ ...known, signing })).toEqual({
      TILLKIT_SERVICE_URL: "http://localhost:4000",
      TILLKIT_TOKEN_URL: "http://localhost:4000/oauth/token",
      TILLKIT_CLIENT_ID: "shop",
      TILLKIT_CLIENT_SECRET: "sandbox_client",
      TILLKIT_WEBHOOK_SECRET: "sandbox_first_secret_0123456789",
    });
  });

  it("names the scheme, its settings and the secret before the last rotation", () => {
    const sandbox = createSandbox({
      signature: { scheme: "fields", merchantId: "m-7", header: "X-Sign", algorithm: "sha512" },
    });
    const before = sandbox.secret!;
    const after = sandbox.rotateSecret();
    expect(shopVariables({ ...known, signing: sandbox.signing })).toMatchObject({
      TILLKIT_SIGNATURE: "fields",
      TILLKIT_MERCHANT_ID: "m-7",
      TILLKIT_SIGNATURE_HEADER: "X-Sign",
      TILLKIT_SIGNATURE_ALGORITHM: "sha512",
      TILLKIT_WEBHOOK_SECRET: after,
      TILLKIT_WEBHOOK_SECRET_PREVIOUS: before,
    });
  });

  it("names no secret of a scheme that the program gave", () => {
    const { signing } = createSandbox({ signature: { header: "X-Own", sign: () => "ab" } });
    const names = Object.keys(shopVariables({ ...known, signing }));
    expect(names).toContain("TILLKIT_SIGNATURE_HEADER");
    expect(names).not.toContain("TILLKIT_WEBHOOK_SECRET");
  });
});
