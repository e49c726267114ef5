import { shop } from "../../../lib/shop.js";

const total = { value: "1475", currency: "KMF" };

export async function POST(_request, { params }) {
  const { order } = await params;
  const { checkoutUrl } = await shop().payments.create({ reference: order, total });
  return Response.redirect(checkoutUrl, 303);
}
