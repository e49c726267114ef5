import { type ReturnView } from "../../checkout/handle-return.js";
import { type MoreTranslations } from "../../checkout/return-translations.js";

/** The pages that the customer sees after the checkout. By default, the kit shows its own pages. */
export interface ReturnOptions {
  /**
   * The link back to the shop on the kit's pages. The kit replaces `{reference}` and `{clientId}` with the
   * escaped values. A link without placeholders is also on the page for unknown addresses.
   * @default no link
   */
  backUrl?: string | undefined;
  /**
   * The link to the customer's order on the kit's pages, in the form of `backUrl`: `/orders/{reference}`.
   * @default no link
   */
  orderUrl?: string | undefined;
  /**
   * The link "Pay again", in the form of `backUrl`: `/orders/{reference}`. The kit shows this link if the
   * payment was canceled or failed, and no other attempt of the order is paid. @default no link
   * @see docs/returns.md#pay-again
   */
  payAgainUrl?: string | undefined;
  /**
   * The address to which the kit redirects a customer who comes back to the success address (303): an
   * absolute http(s) address or a path on the shop's own host. The kit replaces the placeholders of
   * `backUrl`.
   *
   * The order page must read from its own database whether the order is paid, because a return does not prove
   * a payment.
   * @default the kit's page
   */
  successUrl?: string | undefined;
  /**
   * The address to which the kit redirects a customer who comes back to the cancel address, in the form of
   * `successUrl`. @default the kit's page
   */
  cancelUrl?: string | undefined;
  /** The shop's name on the kit's pages. @default none */
  shopName?: string | undefined;
  /**
   * The shop's logo on the kit's pages: an https address, or a path on the shop's own host. @default none
   * @see docs/returns.md#the-shops-look
   */
  logoUrl?: string | undefined;
  /**
   * The colour of links and buttons on the kit's pages: `#0b6650`.
   *
   * The kit makes the colour darker on light pages, and lighter on dark pages, until the contrast is 4.5 to
   * 1.
   * @default the kit's green
   * @see docs/returns.md#the-shops-look
   */
  accent?: string | undefined;
  /**
   * The colour behind the card on the kit's pages: `#fbf6ee`. The kit makes the colour lighter on light
   * pages, and darker on dark pages, until text is readable. @default the kit's grey
   * @see docs/returns.md#the-shops-look
   */
  background?: string | undefined;
  /**
   * A contact for customers whose payment is delayed, has failed or has another amount: an e-mail address, a
   * telephone number, an https address or a short sentence. @default none
   */
  contact?: string | undefined;
  /** The label of the link to `backUrl`, in the shop's language. @default "Back to the shop", translated */
  backLabel?: string | undefined;
  /**
   * Complete translations of the pages, by language code: `{ sw: {…} }`. The kit chooses the language by the
   * payment's `locale`, or by the browser's language. If keys are missing or unknown, the kit does not start,
   * and an error lists these keys.
   * @default English and French
   * @see docs/returns.md#languages
   */
  translations?: MoreTranslations | undefined;
  /**
   * A function that returns the complete page instead of the kit's own page. Escape the values of `view`.
   *
   * `nonce` is the nonce of the response's Content-Security-Policy.
   * @default the kit's page
   */
  render?: ((view: ReturnView, page: { nonce: string; language: string }) => string) | undefined;
}
