import { TillkitError } from "../errors/index.js";
import { type PaymentStore } from "../store/index.js";

type Optional = "list" | "history" | "webhooks" | "dead";

/** An optional method of the store, for a call that cannot do without. Throws `store_method_missing`. */
export function storeMethod<Tx, Name extends Optional>(
  store: PaymentStore<Tx>,
  name: Name,
): NonNullable<PaymentStore<Tx>[Name]> {
  const method = store[name];
  if (method) return method.bind(store) as NonNullable<PaymentStore<Tx>[Name]>;
  throw new TillkitError("store_method_missing", `The store has no ${name}(), which this call needs.`);
}
