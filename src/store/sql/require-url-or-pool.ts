import { optionInvalid } from "./options.js";

/** How a driver reads an address; throws where it cannot. */
type ReadAddress = (address: string) => URL;

/**
 * Refuses what is neither an address of one of these protocols nor an object, and an address that the driver would not
 * read, or not as it was meant. The address is never repeated: it holds a password.
 */
export function requireUrlOrPool(
  urlOrPool: unknown,
  protocols: readonly string[],
  read: ReadAddress = (address) => new URL(address),
): void {
  if (typeof urlOrPool === "object" && urlOrPool !== null) return;
  const fits =
    typeof urlOrPool === "string" && protocols.some((protocol) => urlOrPool.startsWith(`${protocol}//`));
  if (!fits)
    throw optionInvalid("urlOrPool", `must be an address that starts with ${protocols[0]}// or a pool.`);
  if (!isReadable(urlOrPool, read))
    throw optionInvalid(
      "urlOrPool",
      "cannot be read as an address; write special characters of the password in their percent form, as %23 for #.",
    );
}

function isReadable(address: string, read: ReadAddress): boolean {
  try {
    const url = read(address);
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part);
    // The drivers pass over it without a word, and with it over all that follows a # in a password.
    return url.hash === "";
  } catch {
    // Node's own error holds the whole address.
    return false;
  }
}
