/** The handler of every shop in this folder. A real one writes to its own tables through `tx`. */
export async function fulfilOrder({ payment }) {
  console.log(`${payment.reference} is paid`);
}

/** What every order costs here. */
export const total = { value: "1475", currency: "KMF" };
