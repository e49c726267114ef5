/** The positions of the values in a JSON text. Lines count from 1. */
export interface JsonPositions {
  /** The line of each value, by its path as {@link pathKey} writes it. A member has the line of its key. */
  lines: ReadonlyMap<string, number>;
  /** The paths of keys that occur twice in one object. */
  duplicates: readonly (readonly PathStep[])[];
  /** The line of the first syntax error, and the text that was found there. */
  broken?: { line: number; found: string } | undefined;
}

/** A key of an object, or an index of a list. */
export type PathStep = string | number;

/** Returns a string that identifies a path. */
export function pathKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map((step) => (typeof step === "number" ? step : String(step))));
}

/** Returns the positions of all values of a JSON text. `JSON.parse` gives neither lines nor duplicate keys. */
export function scanJson(text: string): JsonPositions {
  const scanner = new JsonScanner(text);
  const broken = scanner.scan();
  return { lines: scanner.lines, duplicates: scanner.duplicates, broken };
}

const space = /[ \t\r\n]*/y;
const string = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;

class JsonSyntaxError extends Error {}

class JsonScanner {
  readonly lines = new Map<string, number>();
  readonly duplicates: (readonly PathStep[])[] = [];
  #at = 0;

  constructor(readonly text: string) {}

  /** Scans the text. Returns the position of its first syntax error. */
  scan(): JsonPositions["broken"] {
    try {
      this.#value([]);
      this.#match(space);
      if (this.#at < this.text.length) throw new JsonSyntaxError();
      return undefined;
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      this.#match(space);
      const found = this.text.slice(this.#at, this.#at + 12).split("\n")[0];
      return { line: this.#line(), found: this.#at < this.text.length ? JSON.stringify(found) : "the end" };
    }
  }

  #value(path: readonly PathStep[]): void {
    this.#match(space);
    const key = pathKey(path);
    if (!this.lines.has(key)) this.lines.set(key, this.#line());
    if (this.#symbol("{")) return this.#items("}", () => this.#member(path));
    let index = 0;
    if (this.#symbol("[")) return this.#items("]", () => this.#value([...path, index++]));
    if (this.#match(string) === undefined) this.#expect(this.#match(scalar));
  }

  #items(end: string, readItem: () => void): void {
    if (this.#symbol(end)) return;
    do readItem();
    while (this.#symbol(","));
    if (!this.#symbol(end)) throw new JsonSyntaxError();
  }

  #member(path: readonly PathStep[]): void {
    this.#match(space);
    const line = this.#line();
    const inner = [...path, String(JSON.parse(this.#expect(this.#match(string))))];
    const key = pathKey(inner);
    if (this.lines.has(key)) this.duplicates.push(inner);
    this.lines.set(key, line);
    if (!this.#symbol(":")) throw new JsonSyntaxError();
    this.#value(inner);
  }

  #symbol(expected: string): boolean {
    this.#match(space);
    const isNext = this.text[this.#at] === expected;
    if (isNext) this.#at += 1;
    return isNext;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #expect<T>(found: T | undefined): T {
    if (found === undefined) throw new JsonSyntaxError();
    return found;
  }

  #line(): number {
    return this.text.slice(0, this.#at).split("\n").length;
  }
}
