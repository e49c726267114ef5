import { fc } from "../../support/property.js";
import { deskPage } from "../../../examples/express-shop/src/pages.js";
import { notFoundPage, returnPage } from "../../../src/http/returns/return-page.js";
import { pendingPayment } from "../../support/webhooks.js";
import { saidBy, shapeOf } from "../../support/markup.js";

const pieces = [
  "<",
  ">",
  '"',
  "'",
  "`",
  "&",
  ";",
  "#",
  "=",
  "/",
  "\\",
  "</style>",
  "</script>",
  "<!--",
  "]]>",
  "&lt;",
  "&#60;",
  "\0",
  "\u2028",
  "\ud800",
  "é",
  "a",
  " ",
  "\n",
];
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((list) => list.join("")),
);

/** The pages, with random strings at every place for a text of a merchant, a customer or the service. */
const pages: Readonly<Record<string, (one: string, two: string) => string>> = {
  "the kit's page of a return": (one, two) =>
    returnPage(
      {
        kind: "success",
        state: "confirming",
        payment: pendingPayment({ reference: one }),
        waitedMs: 0,
        canClaim: false,
      },
      { language: "fr", nonce: "n", shop: { shopName: two, contact: two, backLabel: two }, backUrl: two },
    ),
  "the kit's page for unknown addresses": (one) =>
    notFoundPage({ language: "en", nonce: "n", shop: { shopName: one } }),
  "the example shop's desk": (one, two) =>
    deskPage("en", {
      attention: [{ kind: one, orderId: two, detail: two, at: "2026-11-20T10:00:00.000Z" }],
      orders: [],
      ledger: [],
    }).main.markup,
};

describe("with any strings", () => {
  it.each(Object.entries(pages))("%s has the same tags, and shows the strings unchanged", (_, page) => {
    const shape = shapeOf(page("one", "two"));
    fc.assert(
      fc.property(text, text, (one, two) => {
        const markup = page(one, two);
        expect(shapeOf(markup)).toEqual(shape);
        expect(saidBy(markup).some((said) => said.includes(one))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
