import { type Handlers } from "../dispatch/handlers.js";
import { TillkitError } from "../errors/index.js";
import { type PaymentStore } from "../store/index.js";
import { storeMethod } from "./query.js";

const batchSize = 500;

/**
 * Retires a handler name, in batches that commit one by one. Returns the number of retired dispatches. A repeated call
 * continues where one broke off.
 *
 * @throws TillkitError `handler_registered`, `store_method_missing`
 */
export async function retireHandler<Tx>(
  { store, handlers }: { store: PaymentStore<Tx>; handlers: Handlers<Tx> },
  name: string,
): Promise<number> {
  if (handlers.keys().some((key) => key.name === name))
    throw new TillkitError("handler_registered", `This process has a handler named "${name}".`);
  const retire = storeMethod(store, "retire");
  let total = 0;
  for (;;) {
    const retired = await retire({ handler: name, limit: batchSize });
    total += retired;
    if (retired < batchSize) return total;
  }
}
