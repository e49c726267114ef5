import { type Payments, type SignedField, type TillkitEvent } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { type Attention, type Orders } from "./orders.js";

/** Adds events that need a person to the shopkeeper's list. */
export function collectAttention(payments: Payments<SignedField, SqlTx>, orders: Orders): void {
  // The database stores under this name what the handler has done. Keep the name when the code moves.
  payments.onAny(
    async (event, { tx }) => {
      const attention = attentionTo(event);
      if (attention) await orders.note(tx, attention);
    },
    { name: "attention" },
  );
}

/**
 * Returns the handlers' runs that failed too often, such as one that books a paid order. They are read from the store: a notice could
 * be lost in a crash. They go away when `payments.replayDispatches` has revived them.
 */
export async function deadDispatches(
  payments: Payments<SignedField, SqlTx>,
): Promise<(Attention & { at: string })[]> {
  const dead = await payments.store.dead({ revive: false, limit: 100 });
  return Promise.all(
    dead.map(async ({ handler, clientId, error = "", settledAt = "" }) => {
      const payment = clientId === undefined ? undefined : await payments.find(clientId);
      return {
        kind: "dispatch.dead",
        orderId: payment?.reference,
        detail: `${handler}: ${error}`,
        at: settledAt,
      };
    }),
  );
}

/** Returns the entry of the list for an event; `undefined` where nothing needs a person. */
function attentionTo(event: TillkitEvent): Attention | undefined {
  const kind = event.type;
  switch (event.type) {
    case "payment.mismatched": {
      const differences = event.differences.map(
        ({ field, expected, got }) => `${field}: ${got}, not ${expected}`,
      );
      return { kind, orderId: event.payment.reference, detail: differences.join("; ") };
    }
    case "payment.paid_twice": {
      const detail = `${event.payment.clientId}, after ${event.firstClientId}`;
      return { kind, orderId: event.payment.reference, detail };
    }
    case "payment.paid_other_amount": {
      const [paid, asked] = [event.payment, event.lastAsked].map(
        ({ total }) => `${total.value} ${total.currency}`,
      );
      const detail = `${event.payment.clientId}: ${paid}, and ${asked} was asked for last`;
      return { kind, orderId: event.payment.reference, detail };
    }
    case "payment.paid_late":
      return { kind, orderId: event.payment.reference, detail: event.because };
    case "payment.overdue":
      return { kind, orderId: event.payment.reference, detail: event.payment.clientId };
    case "payment.unmatched":
      return { kind, detail: event.clientId };
    case "webhook.inadmissible":
      return { kind, detail: event.reason };
    default:
      return undefined;
  }
}
