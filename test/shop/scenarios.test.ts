import { catalogue } from "tillkit/sandbox";
import { type OpenShop } from "./open-shop.js";
import { playDay, type Seen, type Step } from "./scenario-day.js";

interface Row extends Partial<Seen> {
  scenario: string;
  steps: readonly Step[];
  /** Differences where the service signs fields instead of the body. */
  fields?: Partial<Seen>;
}

/** The usual result: the page says "confirming" until the webhook comes, and the order is paid one time. */
const paid: Omit<Seen, "pages" | "answers"> = {
  orders: ["paid"],
  ledger: [1],
  sold: 1,
  kit: ["completed"],
  tokens: 1,
  events: ["payment.completed"],
  attention: [],
  nextDay: [],
};

/** No valid webhook came: the order stays unpaid, and the shopkeeper sees this a day later. */
const unpaid: Omit<Seen, "answers"> = {
  pages: ["confirming", "confirming"],
  orders: ["unpaid"],
  ledger: [0],
  sold: 0,
  kit: ["pending"],
  tokens: 1,
  events: [],
  attention: [],
  nextDay: ["payment.overdue"],
};

/** The shop could not start the payment, and showed this. The customer paid after the trouble. */
const secondTry = {
  steps: ["gets an error", "trouble ends", "approves"],
  pages: ["trouble", "confirming", "paid"],
  answers: [200],
} satisfies Partial<Row>;

/** The shop cannot know whether the first payment was made. The payment stays matchable, and no webhook comes. */
const afterUnknownAttempt = {
  ...secondTry,
  kit: ["uncertain", "completed"],
  nextDay: ["payment.overdue"],
} satisfies Partial<Row>;

/** The service made the payment. The customer pays it and so the order, and the shopkeeper sees that it was paid late. */
const paidUnknownAttempt = {
  steps: ["gets an error", "approves elsewhere"],
  pages: ["trouble"],
  answers: [200],
  events: ["payment.completed", "payment.paid_late"],
  attention: ["payment.paid_late"],
} satisfies Partial<Row>;

const refused = [401, 401, 401, 401];

/**
 * The expected results of each scenario at the shop. The last of the `pages` is from the end of the day. Fields that a row
 * leaves out are as in `paid`.
 */
const rows: readonly Row[] = [
  { scenario: "normal", steps: ["approves"], answers: [200] },
  { scenario: "webhook-delayed", steps: ["approves"], answers: [200] },
  // The second is a duplicate: an equal answer, and no second effect.
  { scenario: "webhook-doubled", steps: ["approves"], answers: [200, 200] },
  // Nothing regresses: older statuses are recorded and not applied.
  { scenario: "webhook-reordered", steps: ["approves"], answers: [200, 200, 200] },
  { scenario: "webhook-dropped", steps: ["approves"], answers: ["lost", 200] },
  { scenario: "webhook-never", steps: ["approves"], ...unpaid, answers: [] },
  // The payment was stored first, so the webhook is matched, and the browser finds it paid.
  {
    scenario: "webhook-before-creation-answer",
    steps: ["approves"],
    answers: [200],
    pages: ["paid", "paid"],
  },
  { scenario: "webhook-during-checkout", steps: ["approves"], answers: [200], pages: ["paid", "paid"] },
  { scenario: "signature-wrong", steps: ["approves"], ...unpaid, answers: refused },
  { scenario: "signature-old-secret", steps: ["approves"], ...unpaid, answers: refused },
  { scenario: "signature-missing", steps: ["approves"], ...unpaid, answers: refused },
  // Correctly signed, so it is recorded and answered 200, and raised for a person. A retry would not help.
  {
    scenario: "amount-changed",
    steps: ["approves"],
    ...unpaid,
    pages: ["confirming", "mismatch"],
    answers: [200],
    events: ["payment.mismatched"],
    attention: ["payment.mismatched"],
  },
  { scenario: "amount-tampered", steps: ["approves"], ...unpaid, answers: refused },
  {
    scenario: "currency-changed",
    steps: ["approves"],
    ...unpaid,
    pages: ["confirming", "mismatch"],
    answers: [200],
    events: ["payment.mismatched"],
    attention: ["payment.mismatched"],
  },
  // The other customer's payment has another id at the service, so it is a mismatch, and neither order is paid.
  {
    scenario: "client-id-of-another",
    steps: ["another customer waits", "approves"],
    ...unpaid,
    answers: [200],
    events: ["payment.mismatched"],
    attention: ["payment.mismatched"],
    nextDay: ["payment.overdue", "payment.overdue"],
  },
  // A webhook with an unknown clientId is parked, because its payment may appear.
  {
    scenario: "client-id-of-another",
    steps: ["approves"],
    ...unpaid,
    answers: [200],
    nextDay: ["payment.overdue", "payment.unmatched"],
  },
  // The signature over the body is wrong. For a signature over fields, no field can be read.
  {
    scenario: "body-truncated",
    steps: ["approves"],
    ...unpaid,
    answers: refused,
    fields: { answers: [400, 400, 400, 400] },
  },
  {
    scenario: "topic-unknown",
    steps: ["approves"],
    answers: [200, 200],
    events: ["payment.completed", "payment.updated"],
  },
  {
    scenario: "status-unknown",
    steps: ["approves"],
    answers: [200, 200],
    events: ["payment.completed", "payment.updated"],
  },
  { scenario: "fields-extra", steps: ["approves"], answers: [200] },
  { scenario: "creation-slow", steps: ["approves"], answers: [200] },
  { scenario: "creation-hangs", ...afterUnknownAttempt },
  { scenario: "creation-error", ...afterUnknownAttempt },
  { scenario: "creation-html", ...afterUnknownAttempt },
  { scenario: "creation-late", ...paidUnknownAttempt },
  {
    scenario: "creation-late",
    steps: ["gets an error", "trouble ends", "approves", "approves elsewhere"],
    pages: ["trouble", "confirming", "paid"],
    answers: [200, 200],
    kit: ["completed", "completed"],
    events: ["payment.completed", "payment.paid_late", "payment.paid_twice"],
    attention: ["payment.paid_late", "payment.paid_twice"],
  },
  { scenario: "creation-reset", ...paidUnknownAttempt },
  // Without a token nothing was sent, so the first attempt has failed for certain.
  { scenario: "token-down", ...secondTry, kit: ["failed", "completed"] },
  // The token of the second order expired early: it is renewed, and the customer notices nothing.
  {
    scenario: "token-expired-early",
    steps: ["approves", "a minute passes", "orders again", "approves"],
    pages: ["confirming", "confirming", "paid"],
    answers: [200, 200],
    orders: ["paid", "paid"],
    ledger: [1, 1],
    sold: 2,
    kit: ["completed", "completed"],
    tokens: 2,
    events: ["payment.completed", "payment.completed"],
  },
  // The redirect proves nothing.
  { scenario: "success-without-webhook", steps: ["approves"], ...unpaid, answers: [] },
  {
    scenario: "canceled-then-paid",
    steps: ["cancels"],
    answers: [200],
    pages: ["canceled", "paid"],
    events: ["payment.completed", "payment.paid_late"],
    attention: ["payment.paid_late"],
  },
  {
    scenario: "paid-twice",
    steps: ["cancels", "approves"],
    pages: ["canceled", "confirming", "paid"],
    answers: [200, 200],
    kit: ["completed", "completed"],
    events: ["payment.completed", "payment.paid_late", "payment.paid_twice"],
    attention: ["payment.paid_late", "payment.paid_twice"],
  },
  // The order costs more now, so that a person must accept or refund what was paid.
  {
    scenario: "paid-other-amount",
    steps: ["opens the checkout", "the order grows", "opens the checkout", "returns from the first page"],
    ...unpaid,
    pages: ["mismatch", "mismatch"],
    answers: [200],
    kit: ["completed", "pending"],
    events: ["payment.paid_other_amount"],
    attention: ["payment.paid_other_amount"],
  },
  {
    scenario: "payment-failed",
    steps: ["approves"],
    ...unpaid,
    pages: ["confirming", "failed"],
    answers: [200],
    kit: ["failed"],
    events: ["payment.updated"],
    nextDay: [],
  },
  {
    scenario: "payment-failed",
    steps: ["approves", "trouble ends", "approves"],
    pages: ["confirming", "confirming", "paid"],
    answers: [200, 200],
    kit: ["failed", "completed"],
    events: ["payment.completed", "payment.updated"],
  },
  {
    scenario: "failed-then-paid",
    steps: ["approves"],
    answers: [200, 200],
    events: ["payment.completed", "payment.paid_late", "payment.updated"],
    attention: ["payment.paid_late"],
  },
  // Equal bytes get an equal answer, and change nothing.
  { scenario: "webhook-replayed", steps: ["approves"], answers: [200, 200] },
  // A message without the signed fields cannot be verified, so every attempt is refused.
  {
    scenario: "type-unknown",
    steps: ["approves"],
    answers: [200, 200],
    events: ["payment.completed", "webhook.unrecognised"],
    fields: { answers: [400, 200, 400, 400, 400], events: ["payment.completed"] },
  },
];

/** Scenarios in which the client waits for its time limit in real time. Others use the default limit. */
const unanswered = ["creation-hangs", "creation-late"];

const signings = ["hmac", "fields"] as const;

describe("days with trouble at the example shop", () => {
  let shop: OpenShop | undefined;
  afterEach(() => shop?.close());

  it("have a row for every scenario of the sandbox", () => {
    const tried = new Set(rows.map(({ scenario }) => scenario));
    expect(catalogue.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
  });

  describe.each(signings)("with webhooks signed by the scheme %s", (scheme) => {
    it.each(rows.map((row) => ({ ...row, title: row.steps.join(", ") })))(
      "$scenario: $title",
      async ({ scenario, steps, fields, title: _, ...row }) => {
        const expected = {
          pages: ["confirming", "paid"],
          ...paid,
          ...row,
          ...(scheme === "fields" && fields),
        };
        const how = {
          sandbox: { signature: { scheme } },
          ...(unanswered.includes(scenario) && { timeoutMs: 1000 }),
        };
        const day = await playDay(scenario, steps, how);
        shop = day.shop;
        expect(day.seen).toEqual(expected);
      },
    );
  });
});
