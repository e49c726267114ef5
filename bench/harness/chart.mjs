const barHeight = 20;
const rowHeight = 28;
const nameWidth = 200;
const barsWidth = 440;
const gap = 190;

/** Bars for a suite: server CPU and webhooks a second, side by side. */
export function svg({ title, reference, results }) {
  const height = 70 + results.length * rowHeight;
  const width = nameWidth + 2 * gap + barsWidth + 20;
  const left = column(results, { key: "cpuUs", label: "server CPU, µs (shorter is better)", x: nameWidth });
  const right = column(results, {
    key: "perSecond",
    label: "webhooks a second",
    x: nameWidth + gap + barsWidth / 2,
  });
  const names = results.map(
    ({ name }, index) =>
      `<text x="${nameWidth - 10}" y="${topOf(index) + 15}" text-anchor="end"` +
      `${name === reference ? ' font-weight="bold"' : ""}>${escape(name)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">
<style>text{fill:#1b1b1f}.kit{fill:#0b7a75}.other{fill:#9aa5b1}.sheet{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#e8e8ea}.kit{fill:#2fc4b8}.other{fill:#5b6672}.sheet{fill:#16181c}}</style>
<rect class="sheet" width="100%" height="100%"/>
<text x="10" y="22" font-size="16" font-weight="bold">${escape(title)}</text>
${[...names, ...left, ...right].join("\n")}
</svg>
`;
}

function column(results, { key, label, x }) {
  const most = Math.max(...results.map((one) => one[key]));
  const bars = results.map((one, index) => {
    const length = Math.max(1, (one[key] / most) * (barsWidth / 2));
    const kind = one.name.startsWith("tillkit") ? "kit" : "other";
    const noise = one[`${key === "cpuUs" ? "cpu" : key}Spread`] * 100;
    const value = `${Math.round(one[key])} ± ${Number.isFinite(noise) ? noise.toFixed(0) : "?"} %`;
    return (
      `<rect class="${kind}" x="${x}" y="${topOf(index)}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"/>` +
      `<text x="${(x + length + 6).toFixed(1)}" y="${topOf(index) + 15}">${value}</text>`
    );
  });
  return [`<text x="${x}" y="46" font-size="12">${label}</text>`, ...bars];
}

function topOf(index) {
  return 58 + index * rowHeight;
}

function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
