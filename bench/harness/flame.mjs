// Draws a CPU profile as a flame chart: the callers are above, and the width of a box is its share of the time.
import { escape } from "./chart.mjs";

const width = 1200;
const rowHeight = 16;
const top = 62;
const characterWidth = 6.4;
/** Boxes that are narrower are left out. */
const minWidth = 4;
const colors = { kit: "#0b7a75", package: "#b5651d", node: "#56657a", engine: "#8a3b4f" };
const legend = { kit: "the kit", package: "packages", node: "Node", engine: "the engine, system calls" };

/**
 * Returns the stacks of a profile as one tree: `{ label, kind, count, children }`, without idle time. `describe` returns
 * `{ label, kind }` of a call, or `undefined` to leave it out.
 */
export function treeOf({ nodes, samples }, describe) {
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const boxes = new Map(nodes.map(({ id, callFrame }) => [id, describe(callFrame)]));
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id),
  );
  const root = { count: 0, children: new Map() };
  for (const sample of samples) {
    if (idle.has(sample)) continue;
    const stack = [];
    // The root of a profile has no caller.
    for (let id = sample; callers.has(id); id = callers.get(id))
      if (boxes.get(id)) stack.unshift(boxes.get(id));
    let at = root;
    root.count++;
    for (const { label, kind } of stack) {
      // Neighbours with one label are one box, or the chart would be very deep.
      if (at.label === label) continue;
      if (!at.children.has(label)) at.children.set(label, { label, kind, count: 0, children: new Map() });
      at = at.children.get(label);
      at.count++;
    }
  }
  return root;
}

/** Returns the chart of a tree. */
export function flameChart(tree, title, says) {
  const boxes = [];
  let rows = 0;
  const draw = ({ children }, depth, left) => {
    for (const child of [...children.values()].toSorted((a, b) => b.count - a.count)) {
      const box = (child.count / tree.count) * width;
      if (box < minWidth) break;
      rows = Math.max(rows, depth + 1);
      boxes.push(boxOf(child, left, top + depth * rowHeight, box, child.count / tree.count));
      draw(child, depth + 1, left);
      left += box;
    }
  };
  draw(tree, 0, 0);
  const keys = Object.entries(legend).map(
    ([kind, text], index) =>
      `<rect x="${10 + index * 150}" y="44" width="10" height="10" fill="${colors[kind]}"/>` +
      `<text class="key" x="${24 + index * 150}" y="53">${text}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + rows * rowHeight + 8}" font-family="sans-serif" font-size="11" role="img">
<title>${escape(title)}</title>
<style>text{fill:#fff}.key{fill:#1b1b1f}.sheet{fill:#fff}@media(prefers-color-scheme:dark){.key{fill:#e8e8ea}.sheet{fill:#16181c}}</style>
<rect class="sheet" width="100%" height="100%"/>
<text class="key" x="10" y="20" font-size="15" font-weight="bold">${escape(title)}</text>
<text class="key" x="10" y="36">${escape(says)}</text>
${[...keys, ...boxes].join("\n")}
</svg>
`;
}

function boxOf({ label, kind }, x, y, box, share) {
  const characters = Math.floor((box - 6) / characterWidth);
  const shown = label.length <= characters ? label : `${label.slice(0, Math.max(0, characters - 1))}…`;
  const at = `x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.5, box - 0.5).toFixed(1)}" height="${rowHeight - 1}"`;
  const text = characters < 3 ? "" : `<text x="${(x + 3).toFixed(1)}" y="${y + 11}">${escape(shown)}</text>`;
  return `<g><title>${escape(label)}, ${(100 * share).toFixed(1)} %</title><rect ${at} fill="${colors[kind]}"/>${text}</g>`;
}
