import { type EventType } from "tillkit";
import { type Delivery, type SandboxEvent } from "tillkit/sandbox";
import { goToCheckout, openShop, type OpenShop, placeOrder, post, type ShopUnderTest } from "./open-shop.js";
import { settlesTo } from "./settles-to.js";

/** A step of a day with trouble. */
export type Step =
  /** The customer goes to the checkout, approves there, and returns to the shop. */
  | "approves"
  /** The customer goes to the checkout, and cancels there. */
  | "cancels"
  /** The customer tries to go to the checkout, and sees that it is not possible now. */
  | "gets an error"
  /** The customer approves a payment at the provider whose checkout address the shop never got. */
  | "approves elsewhere"
  /** The trouble ends: payments are normal from now on. */
  | "trouble ends"
  /** The lifetime of a token in the scenario token-expired-early passes. */
  | "a minute passes"
  /** The customer goes to the checkout, and leaves its page open. */
  | "opens the checkout"
  /** The order costs more from now on. */
  | "the order grows"
  /** The customer returns from the checkout page that was opened first. */
  | "returns from the first page"
  /** Another customer is at the checkout with another order. */
  | "another customer waits"
  /** The customer buys the same product again, with a new order. */
  | "orders again";

/** The results of a day. */
export interface Seen {
  /** The pages of the customer's browser, after each step that shows one. */
  pages: string[];
  /** The shop's answers to all webhooks of the service, in their order. */
  answers: (number | "lost")[];
  /** Whether each order is paid. */
  orders: ("paid" | "unpaid")[];
  /** The number of ledger rows of each order. */
  ledger: number[];
  /** The number of sold pieces. */
  sold: number;
  /** The kit's state of each payment of these orders, oldest first. */
  kit: string[];
  /** The number of access tokens that the shop got. */
  tokens: number;
  /** The kit's events, in alphabetical order. */
  events: EventType[];
  /** The shopkeeper's list at the end of the day. */
  attention: string[];
  /** New entries of the list after another day without news. */
  nextDay: string[];
}

/** Plays a scenario at the example shop and returns the results. It uses the sandbox's clock, and does not wait. */
export async function playDay(
  scenario: string,
  steps: readonly Step[],
  how: ShopUnderTest,
): Promise<{ seen: Seen; shop: OpenShop }> {
  const shop = await openShop(how);
  const day = new Day(shop);
  shop.sandbox.scenario(scenario);
  await day.begins();
  for (const step of steps) await day.takes(step);
  return { seen: await day.ends(), shop };
}

class Day {
  readonly #shop: OpenShop;
  readonly #events: EventType[] = [];
  readonly #pages: string[] = [];
  readonly #orders: string[] = [];
  #returnUrl: string | undefined;

  constructor(shop: OpenShop) {
    this.#shop = shop;
    shop.payments.onAny((event) => void this.#events.push(event.type), { name: "witness" });
  }

  async begins(): Promise<void> {
    await this.#shop.payments.start();
    this.#orders.push(await placeOrder(this.#shop));
  }

  async takes(step: Step): Promise<void> {
    const { sandbox } = this.#shop;
    const before = this.#pages.length;
    if (step === "approves") await this.#decides({ action: "approve", provider: "HOL" });
    if (step === "cancels") await this.#decides({ action: "cancel" });
    if (step === "gets an error") await this.#getsAnError();
    if (step === "approves elsewhere") await sandbox.pay(this.#forgotten());
    if (step === "trouble ends") sandbox.scenario("normal");
    if (step === "a minute passes") await sandbox.clock.advance(60_000);
    if (step === "opens the checkout") await goToCheckout(this.#shop, this.#orders.at(-1)!);
    if (step === "the order grows") await this.#grows();
    if (step === "returns from the first page") await this.#returnsFirst();
    if (step === "another customer waits")
      await goToCheckout(this.#shop, await placeOrder(this.#shop, "mango"));
    if (step === "orders again") this.#orders.push(await placeOrder(this.#shop));
    if (this.#pages.length === before) return;
    // Everything that the scenario does later happens now: late webhooks, retries, late answers, replays.
    await sandbox.clock.advance(35 * 60 * 1000);
  }

  async #decides(form: Record<string, string>): Promise<void> {
    const { sandbox } = this.#shop;
    // An answer that is late by the sandbox's clock comes immediately.
    const unwatch = sandbox.watch((event) => void hurry(event));
    const hurry = async (event: SandboxEvent) => {
      if (event.type === "payment.created") await sandbox.clock.advance(5000);
    };
    const checkout = await goToCheckout(this.#shop, this.#orders.at(-1)!);
    unwatch();
    await fetch(checkout);
    await sandbox.settled();
    sandbox.holdWebhooks();
    const left = await post(checkout, form);
    this.#returnUrl = left.headers.get("location")!;
    this.#pages.push(await this.#returnPage());
    sandbox.releaseWebhooks();
  }

  async #getsAnError(): Promise<void> {
    const answer = await post(`${this.#shop.url}/checkout/${this.#orders.at(-1)!}`);
    const page = await answer.text();
    const isTrouble = answer.status === 503 && page.includes("Questions?");
    this.#pages.push(isTrouble ? "trouble" : `${answer.status}`);
  }

  async #grows(): Promise<void> {
    const sql = "update orders set value = '147500' where id = ?";
    await this.#shop.payments.store.transaction((tx) => tx.query(sql, [this.#orders.at(-1)!]));
  }

  async #returnsFirst(): Promise<void> {
    await this.#shop.sandbox.clock.advance(1000);
    this.#returnUrl = this.#shop.sandbox.payments()[0]!.successUrl;
    this.#pages.push(await this.#returnPage());
  }

  /** Returns the id of a payment that is pending at the service, without a browser at its checkout. */
  #forgotten(): string {
    return this.#shop.sandbox.payments().findLast(({ status }) => status === "pending")!.id;
  }

  async #returnPage(): Promise<string> {
    const page = await (await fetch(this.#returnUrl!)).text();
    return /<main[^>]* data-state="([a-z_]+)"/.exec(page)?.[1] ?? page;
  }

  async ends(): Promise<Seen> {
    const { sandbox, orders: books, payments } = this.#shop;
    await sandbox.settled();
    await this.#allHandled();
    const isMine = ({ orderId }: { orderId?: string | undefined }) => this.#orders.includes(orderId!);
    const ledger = await books.ledger();
    const found = await Promise.all(this.#orders.map((id) => books.find(id)));
    const kit = await payments.store.transaction((tx) =>
      payments.store.lock(tx, { references: this.#orders }),
    );
    const attention = (await books.attention()).map(({ kind }) => kind).toSorted();
    if (this.#returnUrl !== undefined) this.#pages.push(await this.#returnPage());
    const reserved = (await books.list()).filter(
      ({ product, reserved: isReserved, paidAt }) =>
        product === "cloves" && isReserved && paidAt === undefined,
    );
    const seen = {
      pages: this.#pages,
      answers: sandbox.deliveries.map((delivery) => answerOf(delivery)),
      orders: found.map((order) => (order?.paidAt === undefined ? "unpaid" : "paid")),
      ledger: this.#orders.map((id) => ledger.filter(({ orderId }) => orderId === id).length),
      sold: 12 - (await books.stock()).get("cloves")! - reserved.length,
      kit: kit.payments.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)).map(({ state }) => state),
      tokens: sandbox.accessTokens().length,
      events: this.#events.toSorted(),
      attention,
    } satisfies Omit<Seen, "nextDay">;
    if (!ledger.every(isMine)) throw new Error("The ledger has a row without a payment.");

    await this.#shop.later(25 * 60 * 60 * 1000);
    await this.#allHandled();
    const later = (await books.attention()).map(({ kind }) => kind).toSorted();
    for (const kind of attention) later.splice(later.indexOf(kind), 1);
    return { ...seen, nextDay: later };
  }

  /** Waits until all events are handled. They are recorded before the answer to the webhook, and handled after it. */
  async #allHandled(): Promise<void> {
    const undone = async () => (await this.#shop.payments.health()).counts?.oldestUndoneAt;
    await settlesTo(undone, undefined);
  }
}

function answerOf({ status, error = "" }: Delivery): number | "lost" {
  if (status !== undefined) return status;
  if (error.startsWith("lost")) return "lost";
  throw new Error(error);
}
