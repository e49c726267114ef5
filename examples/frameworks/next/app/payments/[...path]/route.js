import { shop } from "../../../lib/shop.js";

const handler = (request) => shop().handler(request);
export { handler as GET, handler as HEAD, handler as POST };
