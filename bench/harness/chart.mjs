const barHeight = 18;
const rowHeight = 27;
const top = 66;
const barWidth = 190;
/** The width of the label beside a bar: value, noise and ratio. */
const labelWidth = 165;
const characterWidth = 7.2;

const columns = [
  {
    key: "cpuUs",
    spread: "cpuSpread",
    label: (unit) => `server CPU, µs, per ${unit.slice(0, -1)} (less is better)`,
  },
  { key: "perSecond", spread: "perSecondSpread", label: (unit) => `${unit} a second (more is better)` },
  { key: "databaseCpuUs", label: (unit) => `database CPU, µs, per ${unit.slice(0, -1)} (less is better)` },
];

/** Returns the chart of a suite: CPU, webhooks per second, and the CPU of the database if there is one. */
export function svg({ title, reference, results, unit }) {
  const shown = columns.filter(({ key }) => results.some((one) => one[key] !== undefined));
  const nameWidth = 20 + characterWidth * Math.max(...results.map(({ name }) => name.length));
  const width = Math.ceil(nameWidth + shown.length * (barWidth + labelWidth));
  const height = top + results.length * rowHeight + 8;
  const names = results.map(
    ({ name }, index) =>
      `<text x="${nameWidth - 8}" y="${topOf(index) + 14}" text-anchor="end"` +
      `${name === reference ? ' font-weight="bold"' : ""}>${escape(name)}</text>`,
  );
  const bars = shown.flatMap((column, index) =>
    columnOf(results, {
      ...column,
      label: column.label(unit),
      x: nameWidth + index * (barWidth + labelWidth),
    }),
  );
  const legend = `The line on a bar is the noise between the quartiles; × is the ratio to ${reference}, taken round by round.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" role="img">
<title>${escape(title)}</title>
<style>text{fill:#1b1b1f}.kit{fill:#0b7a75}.other{fill:#9aa5b1}.sheet{fill:#fff}.noise{stroke:#1b1b1f;stroke-width:1.5}
@media(prefers-color-scheme:dark){text{fill:#e8e8ea}.kit{fill:#2fc4b8}.other{fill:#5b6672}.sheet{fill:#16181c}.noise{stroke:#e8e8ea}}</style>
<rect class="sheet" width="100%" height="100%"/>
<text x="10" y="22" font-size="16" font-weight="bold">${escape(title)}</text>
<text x="10" y="40" font-size="11">${escape(legend)}</text>
${[...names, ...bars].join("\n")}
</svg>
`;
}

function columnOf(results, { key, spread, label, x }) {
  // Includes the noise of the longest bar.
  const max = Math.max(...results.map((one) => (one[key] ?? 0) * (1 + noiseOf(one[spread]))));
  const lengthOf = (value) => Math.max(1, (value / max) * barWidth);
  const bars = results.flatMap((one, index) => {
    const value = one[key];
    if (value === undefined) return [];
    const noise = noiseOf(one[spread]);
    const kind = one.name.startsWith("tillkit") ? "kit" : "other";
    const ratio = Number.isFinite(one.ratio[key]) ? `, ${one.ratio[key].toFixed(2)} ×` : "";
    const percent = spread === undefined ? "" : ` ± ${(noise * 100).toFixed(0)} %`;
    const text = `${Math.round(value).toLocaleString("en-US")}${percent}${ratio}`;
    const [low, high] = [1 - noise, 1 + noise].map((share) => (x + lengthOf(value * share)).toFixed(1));
    const middle = topOf(index) + barHeight / 2;
    return [
      `<rect class="${kind}" x="${x}" y="${topOf(index)}" width="${lengthOf(value).toFixed(1)}" height="${barHeight}" rx="2"/>`,
      ...(noise > 0 ? [`<line class="noise" x1="${low}" x2="${high}" y1="${middle}" y2="${middle}"/>`] : []),
      `<text x="${(Number(high) + 6).toFixed(1)}" y="${topOf(index) + 14}" font-size="12">${text}</text>`,
    ];
  });
  return [`<text x="${x}" y="58" font-size="12">${label}</text>`, ...bars];
}

/** Returns the noise as a share of the value, at most 1: in a run of two rounds the quartiles can lie anywhere. */
function noiseOf(spread) {
  return Number.isFinite(spread) ? Math.min(spread, 1) : 0;
}

function topOf(index) {
  return top + index * rowHeight;
}

/** Returns a text as it is written inside of an SVG. */
export function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
