/** Where things stand in a JSON text. Lines count from 1. */
export interface JsonPlan {
  /** The line of each value, by its path as {@link pathKey} writes it; a member stands where its key does. */
  lines: ReadonlyMap<string, number>;
  /** Paths of keys that stand twice in one object. */
  doubled: readonly (readonly PathStep[])[];
  /** The line at which the text stops being JSON, and what stands there. */
  broken?: { line: number; found: string };
}

/** A key, or a place in a list. */
export type PathStep = string | number;

/** One text for one path. */
export function pathKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map((step) => (typeof step === "number" ? step : String(step))));
}

const space = /[ \t\r\n]*/y;
const string = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;

/** Reads the text once to find where its values stand; `JSON.parse` tells neither lines nor doubled keys. */
export function scanJson(text: string): JsonPlan {
  const lines = new Map<string, number>();
  const doubled: (readonly PathStep[])[] = [];
  let at = 0;

  const lineAt = (): number => text.slice(0, at).split("\n").length;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    at += found?.length ?? 0;
    return found;
  };
  const skip = (): void => void take(space);
  const need = (found: string | undefined): string => {
    if (found === undefined) throw new Broken();
    return found;
  };
  const symbol = (expected: string): boolean => {
    skip();
    if (text[at] !== expected) return false;
    at += 1;
    return true;
  };

  function value(path: readonly PathStep[]): void {
    skip();
    const key = pathKey(path);
    if (!lines.has(key)) lines.set(key, lineAt());
    if (symbol("{")) return items("}", () => member(path));
    let index = 0;
    if (symbol("[")) return items("]", () => value([...path, index++]));
    need(take(string) ?? take(scalar));
  }

  function items(end: string, one: () => void): void {
    if (symbol(end)) return;
    do one();
    while (symbol(","));
    if (!symbol(end)) throw new Broken();
  }

  function member(path: readonly PathStep[]): void {
    skip();
    const line = lineAt();
    const inner = [...path, String(JSON.parse(need(take(string))))];
    if (lines.has(pathKey(inner))) doubled.push(inner);
    lines.set(pathKey(inner), line);
    if (!symbol(":")) throw new Broken();
    value(inner);
  }

  try {
    value([]);
    skip();
    if (at < text.length) throw new Broken();
    return { lines, doubled };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    skip();
    const found = at < text.length ? JSON.stringify(text.slice(at, at + 12).split("\n")[0]) : "the end";
    return { lines, doubled, broken: { line: lineAt(), found } };
  }
}

class Broken extends Error {}
