import { awaitedStates, type PaymentState } from "../../src/model/payment.js";

const states = Object.keys({
  creating: 1,
  pending: 1,
  uncertain: 1,
  failed: 1,
  canceled: 1,
  completed: 1,
} satisfies Record<PaymentState, 1>) as PaymentState[];

it("a payment can become overdue until it has failed, or is canceled or completed", () => {
  const ended = states.filter((state) => !awaitedStates.includes(state));
  expect(ended).toEqual(["failed", "canceled", "completed"]);
  expect(awaitedStates).toHaveLength(states.length - ended.length);
});
