import { type Money, type Payment } from "tillkit";
import { drawing } from "./drawings.js";
import { html, type Html } from "./html.js";
import { type Attention, type LedgerRow, type Order } from "./orders.js";
import { type Page } from "./page.js";
import { findProduct, type Product } from "./products.js";
import { attentionTexts, contact, translations, type Language, type Translations } from "./translations.js";

export function frontPage(
  language: Language,
  products: readonly Product[],
  stock: ReadonlyMap<string, number>,
): Page {
  const { tagline, buy, soldOut, piecesLeft } = translations[language];
  const card = ({ id, price, name, about }: Product) => {
    const pieces = stock.get(id) ?? 0;
    return html`<li class="card product">
      ${drawing(id)}
      <h2>${name[language]}</h2>
      <p class="soft">${about[language]}</p>
      <p class="price">${amount({ value: price, currency: "KMF" }, language)}</p>
      <p class="soft small">${pieces > 0 ? `${pieces} ${piecesLeft}` : soldOut}</p>
      ${
        pieces > 0 &&
        html`<form method="post" action="/orders">
          <button name="product" value="${id}" aria-label="${`${buy}: ${name[language]}`}">${buy}</button>
        </form>`
      }
    </li>`;
  };
  return {
    language,
    title: tagline,
    main: html`<h1 class="hero">${tagline}</h1>
      <ul class="products">
        ${products.map(card)}
      </ul>`,
  };
}

/**
 * Returns the page of an order. The shop's own table decides whether the order is paid. The payment only decides what the
 * customer sees until then: a return of the browser proves nothing, but a customer who just paid should not be asked to pay.
 */
export function orderPage(language: Language, order: Order, attempt: Payment | undefined): Page {
  const text = translations[language];
  const state = stateOf(order, attempt);
  const total = amount(order.total, language);
  const gaveUp = state === "unpaid" && attempt !== undefined && !attempt.open;
  return {
    language,
    title: `${text.order} ${order.id}`,
    main: html`<article class="card order">
      ${drawing(order.product, "wide")}
      <p class="state ${state}" role="status">${text[state]}</p>
      <h1>${nameOf(order, language)}</h1>
      <p>${gaveUp ? text.canceledText : text[`${state}Text`]}</p>
      <dl>
        <div>
          <dt>${text.order}</dt>
          <dd>${order.id}</dd>
        </div>
        <div>
          <dt>${text.placed}</dt>
          <dd>${time(order.placedAt, language)}</dd>
        </div>
        <div class="total">
          <dt>Total</dt>
          <dd>${total}</dd>
        </div>
      </dl>
      ${state === "unpaid" && payForm(order, attempt ? text.payAgain : `${text.pay} ${total}`)}
      ${
        // The page does not reload itself, because a screen reader would start again.
        state === "confirming" &&
        html`<a class="button again" href="/orders/${order.id}">${text.lookAgain}</a>`
      }
      ${state === "confirming" && payForm(order, text.toCheckout, "quiet")}
      <p class="small soft keep">${text.keep}</p>
      <a href="/">${text.back}</a>
    </article>`,
  };
}

function stateOf({ paidAt }: Order, attempt: Payment | undefined): "paid" | "confirming" | "unpaid" {
  if (paidAt !== undefined) return "paid";
  if (attempt?.state === "completed") return "confirming";
  return attempt?.successReturnedAt !== undefined && attempt.open ? "confirming" : "unpaid";
}

/** Returns the page for a customer who could not be sent to the checkout. It asks to pay again only where that is right. */
export function problemPage(language: Language, order: Order, problem: keyof Translations["problems"]): Page {
  const text = translations[language];
  const [title, message] = text.problems[problem];
  const mayTryAgain = problem === "unavailable" || problem === "uncertain";
  return {
    language,
    title,
    main: html`<article class="card notice">
      <h1>${title}</h1>
      <p>${message}</p>
      ${problem !== "busy" && html`<p>${text.questions} <a href="mailto:${contact}">${contact}</a></p>`}
      ${mayTryAgain && payForm(order, text.payAgain)}
      <a href="/orders/${order.id}">${text.toOrder}</a>
    </article>`,
  };
}

/** Returns the page for a fault of the shop. */
export function failurePage(language: Language): Page {
  const text = translations[language];
  return {
    language,
    title: text.failure,
    main: html`<article class="card notice">
      <h1>${text.failure}</h1>
      <p>${text.failureText}</p>
      <p>${text.questions} <a href="mailto:${contact}">${contact}</a></p>
      <a href="/">${text.back}</a>
    </article>`,
  };
}

export function notFoundPage(language: Language): Page {
  const text = translations[language];
  return {
    language,
    title: text.notFound,
    main: html`<article class="card notice">
      <h1>${text.notFound}</h1>
      <p>${text.notFoundText}</p>
      <a class="button" href="/">${text.back}</a>
    </article>`,
  };
}

/** Returns the shopkeeper's page: entries that need a person, all orders, and the ledger. */
export function deskPage(
  language: Language,
  desk: { attention: (Attention & { at: string })[]; orders: Order[]; ledger: LedgerRow[] },
): Page {
  const text = translations[language];
  const orderLink = (id: string | undefined) => id !== undefined && html`<a href="/orders/${id}">${id}</a>`;
  const attention = ({ kind, orderId, detail, at }: Attention & { at: string }) =>
    html`<li>
      <strong>${attentionTexts[kind]?.[language] ?? kind}</strong> ${orderLink(orderId)}
      <span class="soft small">${kind}: ${detail}</span>
      <span class="soft small">${time(at, language)}</span>
    </li>`;
  const order = (one: Order) =>
    html`<li class="row">
      ${orderLink(one.id)} <span>${amount(one.total, language)}</span>
      <span class="soft small">${nameOf(one, language)}</span>
      <span class="state ${one.paidAt === undefined ? "unpaid" : "paid"}"
        >${one.paidAt === undefined ? text.unpaid : text.paid}</span
      >
      <span class="soft small">${time(one.placedAt, language)}</span>
    </li>`;
  const booked = (row: LedgerRow) =>
    html`<li class="row">
      ${orderLink(row.orderId)} <span>${amount(row, language)}</span>
      <span class="soft small">${time(row.at, language)}</span>
    </li>`;
  const panel = (heading: string, rows: Html[], empty: string, kind = "") =>
    html`<section class="card panel ${rows.length > 0 ? kind : ""}">
      <h2>${heading}</h2>
      ${
        rows.length > 0
          ? html`<ul>
              ${rows}
            </ul>`
          : html`<p class="soft">${empty}</p>`
      }
    </section>`;
  return {
    language,
    title: text.desk,
    main: html`<h1>${text.desk}</h1>
      <div class="desk">
        ${panel(text.attention, desk.attention.map(attention), text.nothing, "alarm")}
        ${panel(text.orders, desk.orders.map(order), text.noOrders)}
        ${panel(text.ledger, desk.ledger.map(booked), text.noLedger)}
      </div>`,
  };
}

function payForm({ id }: Order, label: string, kind = ""): Html {
  return html`<form id="pay" method="post" action="/checkout/${id}">
    <button class="${kind}">${label}</button>
  </form>`;
}

function nameOf({ product }: Order, language: Language): string {
  return findProduct(product)?.name[language] ?? product;
}

function amount({ value, currency }: Money, language: Language): string {
  return `${new Intl.NumberFormat(language).format(BigInt(value))}\u00a0${currency}`;
}

function time(at: string, language: Language): string {
  return new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    // The islands have one zone; a server may have another.
    timeZone: "Indian/Comoro",
    timeZoneName: "short",
  }).format(new Date(at));
}
