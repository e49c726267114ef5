import { isDeepStrictEqual, styleText } from "node:util";

const colours = { shop: "cyan", service: "magenta", kit: "blue", handler: "yellow", browser: "white" };

/** Collects observations and checks with their time, and prints them. */
export class Timeline {
  #startedAt = performance.now();
  #json;
  #entries = [];
  #colourful = process.stdout.isTTY && !process.env.NO_COLOR;

  constructor({ json }) {
    this.#json = json;
  }

  stage(name) {
    this.#entries.push({ stage: name });
    if (!this.#json) console.log(`\n${this.#paint("bold", name)}`);
  }

  /** Adds an observation without a check. */
  saw(who, what) {
    this.#add({ who, what });
  }

  /** Adds a check: the seen values must equal the expected ones. */
  check(who, what, { expected, seen }) {
    const ok = isDeepStrictEqual(seen, expected);
    this.#add({ who, what, ok, seen, ...(!ok && { expected }) });
  }

  fail(error) {
    this.#add({
      who: "demo",
      what: `stopped with an error: ${error.message}`,
      ok: false,
      seen: error.stack,
      expected: "no error",
    });
  }

  /** Prints the verdict and sets the exit code. */
  conclude() {
    const checks = this.#entries.filter(({ ok }) => ok !== undefined);
    const failed = checks.filter(({ ok }) => !ok);
    const ok = checks.length > 0 && failed.length === 0;
    process.exitCode = ok ? 0 : 1;
    if (this.#json) {
      console.log(JSON.stringify({ ok, timeline: this.#entries }, undefined, 2));
      return;
    }
    const verdict = ok
      ? this.#paint("green", `All ${checks.length} checks passed.`)
      : this.#paint("red", `${failed.length} of ${checks.length} checks failed:`);
    console.log(`\n${verdict}`);
    for (const { who, what, expected, seen } of failed) {
      console.log(`  ${who}: ${what}\n    expected ${print(expected)}\n    saw      ${print(seen)}`);
    }
  }

  #add(entry) {
    const ms = Math.round(performance.now() - this.#startedAt);
    this.#entries.push({ ms, ...entry });
    if (this.#json) return;
    const { who, what, ok } = entry;
    const mark = ok === undefined ? " " : ok ? this.#paint("green", "✓") : this.#paint("red", "✗");
    const label = this.#paint(colours[who] ?? "gray", who.padEnd(8));
    console.log(`${String(ms).padStart(6)} ms  ${mark} ${label} ${what}`);
  }

  #paint(style, text) {
    return this.#colourful ? styleText(style, text) : text;
  }
}

function print(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
