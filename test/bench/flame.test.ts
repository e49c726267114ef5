import { execFileSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";

const harness = pathToFileURL(path.resolve(__dirname, "../../bench/harness/flame.mjs")).href;

const call = (id: number, functionName: string, children: number[]) => ({
  id,
  callFrame: { functionName, url: "", lineNumber: 0 },
  children,
});

/** Four of the seven busy samples are in `<b>`, which `a` calls; `hidden` calls `c`, and `a` calls itself. */
const profile = {
  nodes: [
    call(1, "(root)", [2, 3, 5]),
    call(2, "a", [4, 7]),
    call(3, "(idle)", []),
    call(4, "<b>", []),
    call(5, "hidden", [6]),
    call(6, "c", []),
    call(7, "a", []),
  ],
  samples: [3, 4, 4, 3, 6, 4, 3, 7, 4, 6],
};

/** Runs in a process of its own, because jest cannot import the ES modules of the bench. */
function drawn(): string {
  const script = `
    const { flameChart, treeOf } = await import(${JSON.stringify(harness)});
    const describe = ({ functionName }) => functionName === "hidden" ? undefined : { label: functionName, kind: "kit" };
    console.log(flameChart(treeOf(${JSON.stringify(profile)}, describe), "A & B", "says"));`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
}

it("draws the share of each call below its caller, without idle time", () => {
  const svg = drawn();
  const boxes = [...svg.matchAll(/<g><title>(.*?), (.*?) %<\/title><rect x="(.*?)" y="(.*?)"/g)];
  expect(boxes.map(([, label, share, x, y]) => [label, share, Number(x), Number(y)])).toEqual([
    ["a", "71.4", 0, 62],
    ["&lt;b>", "57.1", 0, 78],
    ["c", "28.6", 857.1, 62],
  ]);
  expect(svg).toContain("<title>A &amp; B</title>");
  expect(svg).not.toMatch(/idle|hidden|root/);
});
