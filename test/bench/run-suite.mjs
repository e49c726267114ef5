// Runs the harness with contenders of the tests: `node run-suite.mjs <file>…`
import path from "node:path";
import { runSuite } from "../../bench/harness/measure.mjs";

const contenders = process.argv
  .slice(2)
  .map((name) => ({ name, file: path.join(import.meta.dirname, name) }));
const suite = { contenders, connections: 2, rounds: 1, seconds: 0.01 };
try {
  const entrants = await runSuite(suite, { tick() {} });
  console.log(entrants.map(({ name }) => `${name} was measured`).join("\n"));
} catch (error) {
  console.log(error.message);
}
