/** Common mistakes of hand-written integrations. Each has a test in this folder whose title begins with its name. */
export const pains = [
  "a parser ate the raw body",
  "verification is skipped, or its secret comes from the body",
  "the webhook comes before the creation's answer",
  "one clientId for every payment",
  "failed is made final, and the late success dropped",
  "a second completed payment is swallowed",
  "amount or currency is not compared, or as floats",
  "marked processed before the handler succeeded",
  "a duplicate, or the return page, credits twice",
  "the success redirect is trusted",
  "an unknown event is answered with 4xx",
  "a sweep picks the same oldest rows and starves the rest",
  "a lost webhook leaves an order pending for ever",
  "every request fetches a token when it expires",
  "tests mock the verifier",
  "test credentials end up in production",
];
