import { catalogue } from "tillkit/sandbox";
import { type OpenShop } from "./open-shop.js";
import { playDay, type Seen, type Step } from "./scenario-day.js";

// Machines may be busy, and each day opens a shop of its own.
jest.setTimeout(60_000);

interface Row extends Partial<Seen> {
  scenario: string;
  steps: readonly Step[];
  /** Where the service signs fields instead of the body, what is different. */
  fields?: Partial<Seen>;
}

/** The usual end: the page says "confirming" until the one webhook comes, and the order is paid once. */
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

/** Nothing came that could be believed: the order stays unpaid, and somebody learns of it a day later. */
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

/** The shop could not begin, said so, and the customer paid when the weather was better. */
const secondTry = {
  steps: ["is turned away", "weather clears", "approves"],
  pages: ["trouble", "confirming", "paid"],
  answers: [200],
} satisfies Partial<Row>;

/** The shop cannot know whether the first attempt was made: it stays matchable, and nobody ever hears of it. */
const inTheDark = {
  ...secondTry,
  kit: ["uncertain", "completed"],
  nextDay: ["payment.overdue"],
} satisfies Partial<Row>;

/** The service has the payment all the same; whoever pays it has paid the order, and the shopkeeper reads why it is odd. */
const paidInTheDark = {
  steps: ["is turned away", "approves elsewhere"],
  pages: ["trouble"],
  answers: [200],
  events: ["payment.completed", "payment.paid_late"],
  attention: ["payment.paid_late"],
} satisfies Partial<Row>;

const refused = [401, 401, 401, 401];

/**
 * The specification of bad days: how each scenario ends at the shop. `pages` are what the customer's browser showed, the
 * last one at the end of the day. What a row leaves out is as in `paid`.
 */
const rows: readonly Row[] = [
  { scenario: "normal", steps: ["approves"], answers: [200] },
  { scenario: "webhook-delayed", steps: ["approves"], answers: [200] },
  // The second is a duplicate: same answer, no second effect.
  { scenario: "webhook-doubled", steps: ["approves"], answers: [200, 200] },
  // Nothing regresses: older statuses are recorded and not applied.
  { scenario: "webhook-reordered", steps: ["approves"], answers: [200, 200, 200] },
  { scenario: "webhook-dropped", steps: ["approves"], answers: ["lost", 200] },
  { scenario: "webhook-never", steps: ["approves"], ...unpaid, answers: [] },
  // The intent was stored first, so the webhook finds its payment; the browser finds it paid.
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
  // Correctly signed: recorded and answered 200, and a person is told; a retry would not mend it.
  {
    scenario: "amount-changed",
    steps: ["approves"],
    ...unpaid,
    answers: [200],
    events: ["payment.mismatched"],
    attention: ["payment.mismatched"],
  },
  { scenario: "amount-tampered", steps: ["approves"], ...unpaid, answers: refused },
  {
    scenario: "currency-changed",
    steps: ["approves"],
    ...unpaid,
    answers: [200],
    events: ["payment.mismatched"],
    attention: ["payment.mismatched"],
  },
  // The other customer's payment has another id at the service: a mismatch there, and nothing for either order.
  {
    scenario: "client-id-of-another",
    steps: ["another customer waits", "approves"],
    ...unpaid,
    answers: [200],
    events: ["payment.mismatched"],
    attention: ["payment.mismatched"],
    nextDay: ["payment.overdue", "payment.overdue"],
  },
  // A clientId that this shop never made is parked, in case its payment appears.
  {
    scenario: "client-id-of-another",
    steps: ["approves"],
    ...unpaid,
    answers: [200],
    nextDay: ["payment.overdue", "payment.unmatched"],
  },
  // Over the body, the signature is wrong. Over fields, there is nothing to read it from.
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
  { scenario: "creation-hangs", ...inTheDark },
  { scenario: "creation-error", ...inTheDark },
  { scenario: "creation-html", ...inTheDark },
  { scenario: "creation-late", ...paidInTheDark },
  {
    scenario: "creation-late",
    steps: ["is turned away", "weather clears", "approves", "approves elsewhere"],
    pages: ["trouble", "confirming", "paid"],
    answers: [200, 200],
    kit: ["completed", "completed"],
    events: ["payment.completed", "payment.paid_late", "payment.paid_twice"],
    attention: ["payment.paid_late", "payment.paid_twice"],
  },
  { scenario: "creation-reset", ...paidInTheDark },
  // Without a token nothing was sent, so the first attempt has failed for certain.
  { scenario: "token-down", ...secondTry, kit: ["failed", "completed"] },
  // The second order meets a token that promised an hour: one refresh, and the customer notices nothing.
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
    steps: ["approves", "weather clears", "approves"],
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
  // Byte for byte what came before: answered alike, and nothing happens.
  { scenario: "webhook-replayed", steps: ["approves"], answers: [200, 200] },
  // Over fields nothing can be verified that has none of them, so it is refused again and again.
  {
    scenario: "type-unknown",
    steps: ["approves"],
    answers: [200, 200],
    events: ["payment.completed", "webhook.unrecognised"],
    fields: { answers: [400, 200, 400, 400, 400], events: ["payment.completed"] },
  },
];

/** Only real time can teach the shop's client that no answer comes; on other days it is as patient as by default. */
const unanswered = ["creation-hangs", "creation-late"];

const signings = ["hmac", "fields"] as const;

describe("bad days at the example shop", () => {
  let shop: OpenShop | undefined;
  afterEach(() => shop?.close());

  it("have a row for every scenario of the sandbox", () => {
    const tried = new Set(rows.map(({ scenario }) => scenario));
    expect(catalogue.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
  });

  describe.each(signings)("with webhooks signed by the scheme %s", (scheme) => {
    it.each(rows.map((row) => ({ ...row, said: row.steps.join(", ") })))(
      "$scenario: $said",
      async ({ scenario, steps, fields, said: _, ...row }) => {
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
