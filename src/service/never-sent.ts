/** Codes that Node and its `fetch` use only before a connection stands. */
const beforeConnection: readonly unknown[] = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
];

/**
 * Whether an error of `fetch` proves that the request never left: nobody listened, the name has no address, or no
 * connection came about. Only then has the service certainly made no payment. Everything else, a reset above all, can
 * happen after the service read the request; so anything not known here counts as sent.
 */
export function wasNeverSent(error: unknown): boolean {
  // Told by shape: an application's own `fetch` may bring errors of another realm.
  if (typeof error !== "object" || error === null) return false;
  const { code, syscall, errors, cause } = error as Failure;
  // A host with several addresses has an error for each.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(wasNeverSent);
  if (beforeConnection.includes(code) || syscall === "connect" || syscall === "getaddrinfo") return true;
  // fetch() wraps the system's error.
  return wasNeverSent(cause);
}

interface Failure {
  code?: unknown;
  syscall?: unknown;
  errors?: unknown;
  cause?: unknown;
}
