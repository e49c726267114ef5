// Handlers run from the start of the server, also before its first request.
export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { shop } = await import("./lib/shop.js");
  shop();
}
