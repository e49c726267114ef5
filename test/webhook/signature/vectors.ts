/** The exact body of the vectors: an example with the fields of the interface document. */
export const body =
  '{"topic":"payment.completed","timestamp":"2026-11-20T10:00:05.000Z","type":"payment","data":' +
  '{"id":"64f0c0ffee64f0c0ffee64f0","status":"completed","captured":true,"total":{"value":"1475","currency":"KMF"},' +
  '"submittedAt":"2026-11-20T10:00:00.000Z","clientId":"c-1","providerId":"MVK-778","source":"MVK"}}';

export const secret = "whsec_2b7e151628aed2a6abf7158809cf4f3c";

/** HMAC over a body, computed with `openssl dgst -<algorithm> -hmac <secret>`. */
export const hmacVectors = [
  ["sha256", body, "2e9d3991d62412b5a4fedd9b0796d99600ecc4cddd073d99eb94b7c725657ab7"],
  [
    "sha384",
    body,
    "f6a4e469ef2ec1c88a3bb8fc939def7c3448c33a62c7badc1cd8e9143b519b47fb355d9fa0a211dce8d80171c192f97e",
  ],
  [
    "sha512",
    body,
    "3c3c8cceb1728c1d7d8b2fcf3cc29c5dbde9b38e1dc59333a498d800e9e1e90bc96d7d5a273d4a502686995508b5e1f02ef36ca0c8bbb8580cf9cd64214c5b5d",
  ],
  [
    "sha256",
    '{ "data" : { "clientId" : "c-é😀" } }',
    "2a201a795cf331674716e154c1e0ceffbe3dab7f2b3c134fd725f0a1a4b3b8a4",
  ],
  ["sha256", "", "dcc3c60053674b298163f751b1901fefd7dd7617fe9348b52367a0eba1146b5a"],
] as const;

/** RFC 4231, test case 4: the only one whose key is neither short nor a repetition of one byte. */
export const rfc4231Case4 = {
  key: "0102030405060708090a0b0c0d0e0f10111213141516171819",
  data: "cd".repeat(50),
  sha256: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
  sha384: "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e6801dd23c4a7d679ccf8a386c674cffb",
  sha512:
    "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3dba91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd",
} as const;

/** The keys of the other cases of RFC 4231, and why schemes refuse them. */
export const rfc4231RefusedKeys = [
  [1, "0b".repeat(20), "secret_missing"],
  [2, "4a656665", "secret_too_short"],
  [3, "aa".repeat(20), "secret_placeholder"],
  [5, "0c".repeat(20), "secret_missing"],
  [6, "aa".repeat(131), "secret_placeholder"],
] as const;

/** HMAC over joined fields for the merchant `m-1`: body, signed string, and signature by openssl. */
export const fieldsVectors = [
  [
    {},
    "64f0c0ffee64f0c0ffee64f0,m-1,c-1,1475,KMF,2026-11-20T10:00:00.000Z,completed",
    "364c56240e697765c7ef5db715c8885f69c5c97ed2171a21c81387d59a8fab39",
  ],
  [
    {
      id: "é",
      clientId: "c-2",
      total: { value: "10.50", currency: "EUR" },
      submittedAt: "",
      status: "pending",
    },
    "é,m-1,c-2,10.50,EUR,,pending",
    "c7a48ccf1c8b2ea5f1dbe103bb216a532720e58b638ef8f185b5661bec5c61e5",
  ],
] as const;

/** HMAC of the same body over another list of fields: `completed,KMF,1475,c-1,64f0c0ffee64f0c0ffee64f0,payment`. */
export const ownList = {
  fields: ["status", "total.currency", "total.value", "clientId", "id", "type"],
  signature: "fe15672b07c16441b8da3389c3b3daa7fbfaf02c04f316a68b091ebed7cef1a8",
} as const;

/** Public keys with signatures: RFC 8032, 7.1, tests 1 to 3, and two of `body` by openssl. */
export const publicKeyVectors = [
  [
    "ed25519",
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    Buffer.alloc(0),
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "ed25519",
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
    Buffer.from("72", "hex"),
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "ed25519",
    "MCowBQYDK2VwAyEA/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=",
    Buffer.from("af82", "hex"),
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
  [
    "ed25519",
    "MCowBQYDK2VwAyEAu3vYs4j5cTd7myBU/1ozdr6/a6WcZL+6tnszC3TsYnE=",
    Buffer.from(body),
    "d2b034fe227768ea5f938f5f29dd26781fd4d44865ae999ce990ab944606ea045cd7cb3c551dc7569adfe1ce4984b92db6f5fabb5a9d649aa7c0ca34d825e603",
  ],
  [
    "ecdsa-sha256",
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbLkFpRV7x9f2TNCeUso+I1sg46+8OrK9wJbC9nWLrqeBbfJwiCMYB3bQbfdAppuLsq1JzJy3e3aOZfySMIZkmg==",
    Buffer.from(body),
    "3046022100d39a2ec4dbd069ac695ef8a000368bd97ed959cf23868a7f86b4bf307ca2dbc4022100f5c99f6ed0bb63a111b9ed29eb9fe5c03a46573c80e2bcd122d157421d9230d9",
  ],
] as const;
