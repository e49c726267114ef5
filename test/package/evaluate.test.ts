import { spawnSync } from "node:child_process";
import path from "node:path";
import { root } from "../docs/documents.js";
import { discard, pack, type Packed, plainEnvironment } from "./pack.js";

const connect = path.join(root, "test/package/evaluation/connect.mjs");

let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 120_000);
afterAll(() => discard(packed));

/** Runs the evaluation with this command. */
function evaluate(...command: string[]) {
  const script = path.join(root, "scripts/evaluate.mjs");
  const args = [script, "--package", packed.tarball, "--json", "--", ...command];
  const { status, stdout } = spawnSync(process.execPath, args, { env: plainEnvironment(), encoding: "utf8" });
  return { status, result: JSON.parse(stdout) };
}

describe("npm run docs:evaluate", () => {
  it("counts an order as paid in each application whose command follows the page for agents", () => {
    expect(evaluate(process.execPath, connect)).toEqual({
      status: 0,
      result: {
        paid: 3,
        of: 3,
        results: ["javascript", "json-parser", "typescript"].map((app) => ({ app, paid: true })),
      },
    });
  }, 240_000);

  it("counts no order where the command does nothing, and says why", () => {
    const { status, result } = evaluate("true");
    expect(status).toBe(1);
    expect(result).toMatchObject({ paid: 0, of: 3 });
    expect(result.results[0].why).toContain("The checkout answered 501, not 303.");
  }, 240_000);
});
