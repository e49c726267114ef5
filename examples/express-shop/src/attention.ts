import { type Payments, type SignedField, type TillkitEvent } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { type Attention, type Orders } from "./orders.js";

/** Some things about money need a person. The kit tells of them as events; here they go on the shopkeeper's list. */
export function collectAttention(payments: Payments<SignedField, SqlTx>, orders: Orders): void {
  // The name is how the database remembers what this handler has done; it stays when the code moves.
  payments.onAny(
    async (event, { tx }) => {
      const attention = attentionTo(event);
      if (attention) await orders.note(tx, attention);
    },
    { name: "attention" },
  );

  // A handler that failed again and again, the one that books a paid order perhaps. The event stays in the database.
  payments.on("dispatch.dead", ({ event, handler, error }) => {
    const orderId = "payment" in event ? event.payment.reference : undefined;
    orders
      .noteNow({ kind: "dispatch.dead", orderId, detail: `${handler}: ${error}` })
      .catch((cause: unknown) => {
        payments.logger.error({ err: cause }, "the shopkeeper's list could not be written");
      });
  });
}

/** What the shopkeeper should read about an event; nothing where all is well. */
function attentionTo(event: TillkitEvent): Attention | undefined {
  const kind = event.type;
  switch (event.type) {
    case "payment.mismatched": {
      const said = event.differences.map(({ field, expected, got }) => `${field}: ${got}, not ${expected}`);
      return { kind, orderId: event.payment.reference, detail: said.join("; ") };
    }
    case "payment.paid_twice": {
      const detail = `${event.payment.clientId}, after ${event.firstClientId}`;
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
