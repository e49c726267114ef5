import { type OpenClaim, openClaims } from "../../checkout/payment-claims.js";
import { readControls } from "../../dispatch/handler-controls.js";
import {
  type AttentionRule,
  needOfPayment,
  type PaymentNeed,
  type WebhookNeed,
} from "../../model/attention.js";
import { type Payment } from "../../model/payment.js";
import { type DispatchRecord, type PaymentStore, type WebhookRecord } from "../../store/index.js";
import { withoutKey } from "../../webhook/recording/payment-events.js";
import { ruleEnd, type Fact, type Rule } from "./rules.js";

/** The parts of the kit that are needed to read facts. */
export interface FactParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  /** The option `unmatchedAfterMs`. With `any age`, facts that are too young for an entry count, too. */
  unmatchedAfterMs: number | "any age";
  /** Returns the reasons why this process is not healthy. */
  reasons: () => Promise<readonly { code: string; message: string }[]>;
}

/** The reasons of health that other rules list with more detail. */
const listedElsewhere: readonly string[] = ["dispatches_dead", "handler_paused"];

/** The maximum number of webhooks that are read about the payments of one page. */
const maxOfPayments = 1000;

interface Source {
  /** Returns at most `limit` facts of a rule, after a position, in an order that does not change. */
  page(rule: AttentionRule, after: Fact["position"] | undefined, limit: number): Promise<Fact[]>;
  /** Returns the fact of a rule about one subject, if it exists. */
  one(rule: AttentionRule, subject: string): Promise<Fact | undefined>;
}

/** Returns the source of facts for each kind of rule. */
export function factSources<Tx>(parts: FactParts<Tx>): Readonly<Record<Rule["of"], Source>> {
  const { store } = parts;
  const found = (all: readonly Fact[]): Source => ({
    page: async (rule, after, limit) =>
      all.filter((one) => one.rule === rule && (!after || one.subject > after[0])).slice(0, limit),
    one: async (rule, subject) => all.find((one) => one.rule === rule && one.subject === subject),
  });
  const later = (read: () => Promise<Fact[]>): Source => ({
    page: async (...asked) => found(await read()).page(...asked),
    one: async (...asked) => found(await read()).one(...asked),
  });
  return {
    claim: {
      async page(_, after, limit) {
        const position = after && { after: after[0] };
        return (await openClaims(store, { limit, ...position })).map(factOfClaim);
      },
      async one(_, subject) {
        const payment = await store.find(subject);
        const [claim] = payment ? await openClaims(store, { of: payment, limit: 1 }) : [];
        return claim?.isOpen ? factOfClaim(claim) : undefined;
      },
    },
    payment: ofPayments(parts),
    webhook: ofWebhooks(parts),
    dispatch: {
      async page(rule, after, limit) {
        const position = after && { after: { eventId: after[0], handler: after[1] } };
        const dead = await store.dead({ revive: false, limit, ...position });
        return withPayments(
          store,
          dead.map((one) => factOfDispatch(rule, one)),
        );
      },
      async one(rule, subject) {
        const [eventId, handler] = split(subject);
        const dead = await store.dead({ eventId, handler, revive: false, limit: 1 });
        return (
          await withPayments(
            store,
            dead.map((each) => factOfDispatch(rule, each)),
          )
        )[0];
      },
    },
    handler: later(async () =>
      (await readControls(store)).flatMap(({ name, paused }) =>
        paused ? [factOf("handler_paused", name, paused.at, `by ${paused.by}: ${paused.reason}`)] : [],
      ),
    ),
    process: later(async () => {
      return (await parts.reasons())
        .filter(({ code }) => !listedElsewhere.includes(code))
        .map(({ code, message }) => {
          const rule = code === "spool_set_aside" ? code : "health";
          return factOf(rule, code, parts.now().toISOString(), message);
        })
        .toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
    }),
  };
}

function ofPayments<Tx>(parts: FactParts<Tx>): Source {
  const { store } = parts;
  return {
    async page(rule, after, limit) {
      const to = ruleEnd(parts, rule);
      const payments = await store.list({
        need: rule as PaymentNeed,
        ...(to !== undefined && { to }),
        ...(after && { after: { createdAt: after[0], clientId: after[1] } }),
        newestFirst: false,
        limit,
      });
      return payments.map((payment) => factOfPayment(rule, payment));
    },
    async one(rule, subject) {
      const payment = await store.find(subject);
      const end = ruleEnd(parts, rule);
      const isOpen =
        payment && needOfPayment(payment) === rule && (end === undefined || payment.createdAt < end);
      return isOpen ? factOfPayment(rule, payment) : undefined;
    },
  };
}

/** Returns the source of facts about webhooks. All webhooks that name one payment are one fact. */
function ofWebhooks<Tx>(parts: FactParts<Tx>): Source {
  const { store } = parts;
  const about = async (rule: AttentionRule, clientIds: readonly string[]) =>
    clientIds.length === 0
      ? []
      : store.webhooks({ need: rule as WebhookNeed, clientIds, limit: maxOfPayments });
  return {
    async page(rule, after, limit) {
      const to = ruleEnd(parts, rule);
      const webhooks = await store.webhooks({
        need: rule as WebhookNeed,
        limit,
        ...(to !== undefined && { to }),
        ...(after && { after: { receivedAt: after[0], receiptId: after[1] } }),
      });
      const named = [...new Set(webhooks.flatMap(({ clientId }) => clientId ?? []))];
      const byClient = new Map<string, WebhookRecord[]>();
      for (const one of await about(rule, named)) {
        const others = byClient.get(one.clientId!);
        if (others) others.push(one);
        else byClient.set(one.clientId!, [one]);
      }
      // If the webhooks of some payments filled the page, the webhooks of each other payment are read
      // separately.
      for (const clientId of named)
        if (!byClient.has(clientId)) byClient.set(clientId, await about(rule, [clientId]));
      const facts = webhooks.map((one): Fact => {
        const [first = one, ...rest] = byClient.get(one.clientId ?? "") ?? [];
        const others = [first, ...rest];
        const isLater = first.receiptId !== one.receiptId && { isGone: true as const };
        return { ...factOfWebhooks(rule, others), position: [one.receivedAt, one.receiptId], ...isLater };
      });
      return withPayments(store, facts);
    },
    async one(rule, subject) {
      const named = await about(rule, [subject]);
      const [unnamed] =
        named.length > 0
          ? []
          : await store.webhooks({ need: rule as WebhookNeed, receiptId: subject, limit: 1 });
      const all = unnamed && unnamed.clientId === undefined ? [unnamed] : named;
      const end = ruleEnd(parts, rule);
      const isOpen = all[0] && (end === undefined || all[0].receivedAt < end);
      return isOpen ? (await withPayments(store, [factOfWebhooks(rule, all)]))[0] : undefined;
    },
  };
}

function factOf(rule: AttentionRule, subject: string, since: string, text: string): Fact {
  return { rule, subject, since, position: [subject, ""], text };
}

function factOfClaim(claim: OpenClaim): Fact {
  const { payment, since, note, isOpen } = claim;
  return {
    rule: "claimed",
    subject: payment.clientId,
    since,
    position: [note.id, ""],
    payment: withoutKey(payment),
    claim,
    ...(!isOpen && { isGone: true as const }),
  };
}

function factOfPayment(rule: AttentionRule, payment: Payment): Fact {
  const { clientId, createdAt, completedAt, overdueAt } = payment;
  const since = completedAt ?? (rule === "overdue" ? overdueAt : undefined) ?? createdAt;
  const position = [createdAt, clientId] as const;
  const isGone = needOfPayment(payment) !== rule && { isGone: true as const };
  return { rule, subject: clientId, since, position, payment: withoutKey(payment), ...isGone };
}

function factOfWebhooks(rule: AttentionRule, webhooks: readonly WebhookRecord[]): Fact {
  const { clientId, receiptId, receivedAt } = webhooks[0]!;
  // A person can accept only a webhook that reports a completion, so the newest of these is chosen, if any.
  const webhook = webhooks.findLast(({ status }) => status === "completed") ?? webhooks.at(-1)!;
  const position = [receivedAt, receiptId] as const;
  return { rule, subject: clientId ?? receiptId, since: receivedAt, position, webhook, webhooks };
}

function factOfDispatch(rule: AttentionRule, dispatch: DispatchRecord): Fact {
  const { eventId, handler, settledAt = "" } = dispatch;
  return { rule, subject: `${eventId}:${handler}`, since: settledAt, position: [eventId, handler], dispatch };
}

/** Adds the payments that the webhooks and dispatches are about. */
async function withPayments<Tx>(store: PaymentStore<Tx>, facts: readonly Fact[]): Promise<Fact[]> {
  const clientIdOf = ({ webhook, dispatch }: Fact) => webhook?.clientId ?? dispatch?.clientId;
  const clientIds = [...new Set(facts.flatMap((fact) => clientIdOf(fact) ?? []))];
  if (clientIds.length === 0) return [...facts];
  const payments = new Map(
    (await store.findMany({ clientIds })).map((payment) => [payment.clientId, withoutKey(payment)]),
  );
  return facts.map((fact) => {
    const payment = payments.get(clientIdOf(fact) ?? "");
    return payment ? { ...fact, payment } : fact;
  });
}

/** Returns the parts of a text before and after its first colon. */
export function split(text: string): [string, string] {
  const at = text.indexOf(":");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
