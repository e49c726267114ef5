/** One piece of a page, as a browser reads it. */
export type Token =
  | { kind: "open"; name: string; attributes: readonly (readonly [name: string, value: string])[] }
  | { kind: "close"; name: string }
  | { kind: "text"; text: string }
  | { kind: "raw"; text: string };

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };

/** Decodes text or the value of an attribute. Throws for an ampersand that is not one of the kit's entities. */
function decode(markup: string): string {
  return markup.replace(
    /&(?:#(\d+);|([a-z]+);)?/gi,
    (all, code: string | undefined, name: string | undefined) => {
      const decoded = code === undefined ? entities[name ?? ""] : String.fromCodePoint(Number(code));
      if (decoded === undefined)
        throw new Error(`An ampersand that is not one of the kit's entities: ${all}`);
      return decoded;
    },
  );
}

const openTag = /<([a-z][a-z0-9]*)((?:\s+[a-z][a-z0-9-]*(?:="[^"<>]*")?)*)\s*\/?>/iy;
const closeTag = /<\/([a-z][a-z0-9]*)\s*>/iy;
const attribute = /\s+([a-z][a-z0-9-]*)(?:="([^"<>]*)")?/gi;

/**
 * Reads markup strictly: every `<` begins a tag, every attribute is in double quotes or has no value, and every `&` is an
 * entity. Throws for anything else, so browsers can read an accepted page in only one way.
 */
export function tokenize(page: string): Token[] {
  const tokens: Token[] = [];
  let at = /^<!doctype html>/i.exec(page)?.[0].length ?? 0;
  while (at < page.length) {
    openTag.lastIndex = closeTag.lastIndex = at;
    const open = openTag.exec(page);
    const close = closeTag.exec(page);
    if (open) {
      const [all, name = "", rest = ""] = open;
      const attributes = [...rest.matchAll(attribute)].map(
        ([, key = "", value = ""]) => [key.toLowerCase(), decode(value)] as const,
      );
      tokens.push({ kind: "open", name: name.toLowerCase(), attributes });
      at += all.length;
      if (/^(?:style|script)$/i.test(name)) {
        // A browser ends these at the first closing tag of that name, at any place.
        const end = page.slice(at).search(new RegExp(`</${name}`, "i"));
        if (end < 0) throw new Error(`<${name}> is never closed.`);
        tokens.push({ kind: "raw", text: page.slice(at, at + end) });
        at += end;
      }
    } else if (close) {
      tokens.push({ kind: "close", name: close[1]!.toLowerCase() });
      at += close[0].length;
    } else {
      const next = page.indexOf("<", at);
      if (next === at) throw new Error(`A < that does not begin a tag: ${page.slice(at, at + 40)}`);
      const end = next < 0 ? page.length : next;
      tokens.push({ kind: "text", text: decode(page.slice(at, end)) });
      at = end;
    }
  }
  return tokens;
}

/** Returns the tags of a page with the names of their attributes, in order. No text may change them. */
export function shapeOf(page: string): string[] {
  return tokenize(page).flatMap((token) => {
    if (token.kind === "open")
      return [`<${[token.name, ...token.attributes.map(([name]) => name)].join(" ")}>`];
    return token.kind === "close" ? [`</${token.name}>`] : [];
  });
}

/** Returns the text of a page and the values of its attributes. */
export function saidBy(page: string): string[] {
  return tokenize(page).flatMap((token) => {
    if (token.kind === "text") return [token.text];
    return token.kind === "open" ? token.attributes.map(([, value]) => value) : [];
  });
}
