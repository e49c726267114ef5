import { type Payment } from "tillkit";
import { notesOf } from "../../../src/cli/payments/notes-of.js";
import { payment } from "../../../src/store/exam/checks/fixtures.js";

it.each<[Partial<Payment>, string]>([
  [{}, ""],
  [{ received: { value: "1470", currency: "KMF" } }, "paid 1470 KMF: 5 too little"],
  [{ received: { value: "1480", currency: "KMF" } }, "paid 1480 KMF: 5 too much"],
  [{ received: { value: "3.00", currency: "EUR" } }, "paid 3.00 EUR"],
  [{ refunded: "500" }, "500 refunded"],
  [{ attention: "paid_twice" }, "second payment"],
  [{ attention: "paid_late" }, "paid late"],
  [{ attention: "settled" }, ""],
  [{ replacedBy: "c-2" }, "replaced"],
  [{ withheld: "replaced", refunded: "5", attention: "paid_late" }, "replaced, 5 refunded, paid late"],
] as [Partial<Payment>, string][])("the notes of a payment with %j are %j", (over, notes) => {
  expect(notesOf(payment("c-1", over))).toBe(notes);
});
