export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { shop } = await import("./lib/shop.js");
  shop();
}
