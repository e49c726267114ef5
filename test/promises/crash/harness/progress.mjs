/** Draws a bar on a terminal, and elsewhere a line for every tenth. Uses standard error, because standard output has the result. */
export class Progress {
  #total;
  #done = 0;
  #unit;
  #quiet;
  #describe;
  #lastTenth = 0;
  #drawnAt = 0;

  constructor({ total, unit, quiet, describe }) {
    this.#total = total;
    this.#unit = unit;
    this.#quiet = quiet;
    this.#describe = describe;
  }

  tick() {
    this.#done++;
    if (this.#quiet) return;
    const last = this.#done >= this.#total;
    if (process.stderr.isTTY) {
      if (!last && performance.now() - this.#drawnAt < 100) return;
      this.#drawnAt = performance.now();
      const width = Math.floor((24 * this.#done) / this.#total);
      process.stderr.write(`\r\u001b[K[${"#".repeat(width).padEnd(24)}] ${this.#line()}${last ? "\n" : ""}`);
    } else {
      const tenth = Math.floor((10 * this.#done) / this.#total);
      if (tenth > this.#lastTenth) process.stderr.write(`${this.#line()}\n`);
      this.#lastTenth = tenth;
    }
  }

  #line() {
    return `${this.#done}/${this.#total} ${this.#unit}, ${this.#describe()}`;
  }
}
