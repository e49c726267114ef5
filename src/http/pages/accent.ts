type Rgb = readonly number[];

/** Returns the style that gives links and buttons the merchant's colour, or none without a colour. */
export function accentStyle(accent: string | undefined): string {
  if (accent === undefined) return "";
  const rgb = [1, 3, 5].map((at) => Number.parseInt(accent.slice(at, at + 2), 16));
  const light = rules(rgb, { card: [255, 255, 255], towards: 0 });
  const dark = rules(rgb, { card: [23, 30, 27], towards: 255 });
  return `.sheet a { ${light} }\n@media (prefers-color-scheme: dark) { .sheet a { ${dark} } }\n`;
}

/**
 * Returns the colours on one card. The colour is mixed with black or white until its contrast with the card is 4.5 to 1.
 * The text on a button has the card's colour, so it has that contrast too.
 */
function rules(rgb: Rgb, { card, towards }: { card: Rgb; towards: number }): string {
  const mixed = (share: number): Rgb => rgb.map((part) => Math.round(part + (towards - part) * share));
  let share = 0;
  while (contrast(mixed(share), card) < 4.5) share += 0.02;
  const hover = mixed(Math.min(1, share + 0.15));
  return `--accent: ${hex(mixed(share))}; --accent-strong: ${hex(hover)}; --on-accent: ${hex(card)};`;
}

function hex(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the contrast of two colours by WCAG 2.2. */
function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(rgb: Rgb): number {
  const weights = [0.2126, 0.7152, 0.0722];
  const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return rgb.reduce((sum, part, index) => sum + weights[index]! * linear(part / 255), 0);
}
