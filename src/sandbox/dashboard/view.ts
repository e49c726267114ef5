import { type Language } from "../../pages/language.js";

/** A text for the developer, and its language, where that may differ from the page's. */
export interface Told {
  text: string;
  language?: Language;
}

/** What every page of the dashboard is made with. */
export interface View {
  language: Language;
  /** The sandbox's own address. */
  baseUrl: string;
  /** What every path on these pages begins with: empty, unless the sandbox lives below a path of its public address. */
  root: string;
  merchantName: string;
  /** The query's parameters: which page of a list, and what was done just now. */
  query: Readonly<Record<string, string>>;
  /** Why the form that was sent changed nothing. */
  problem?: Told | undefined;
  /** What was typed into it. */
  typed?: Typed | undefined;
}

/** The fields of a form as they were sent. */
export class Typed {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#fields = fields;
  }

  /** The field's text; empty where it was not sent. */
  text(name: string): string {
    return this.list(name)[0] ?? "";
  }

  /** Every value of a field that may be sent several times. */
  list(name: string): string[] {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : [];
    return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name);
  }
}
