import {
  clientCredentials,
  fieldsSignature,
  hmacSignature,
  publicKeySignature,
  standardWebhooksSignature,
} from "tillkit";

describe("a scheme without options", () => {
  it.each([
    ["hmacSignature", hmacSignature, "signature: must be an object of options, such as { secret }."],
    ["fieldsSignature", fieldsSignature, "signature: must be an object of options, such as { secret }."],
    [
      "standardWebhooksSignature",
      standardWebhooksSignature,
      "signature: must be an object of options, such as { secret }.",
    ],
    [
      "publicKeySignature",
      publicKeySignature,
      "signature: must be an object of options, such as { publicKey }.",
    ],
    [
      "clientCredentials",
      clientCredentials,
      "clientCredentials: must be an object of options, such as { tokenUrl, clientId, clientSecret }.",
    ],
  ])("%s names what it expects, and does not repeat a secret", (_name, scheme, message) => {
    for (const given of [undefined, null, "8f1c0e7d5b3a49c6", 5]) {
      const construct = () => (scheme as (options: unknown) => unknown)(given);
      expect(construct).toThrow(expect.objectContaining({ code: "option_invalid" }));
      expect(construct).toThrow(message);
      expect(construct).not.toThrow("8f1c0e7d5b3a49c6");
    }
  });
});
