type Rgb = readonly number[];

/** Returns the style that gives links and buttons the merchant's colour, or an empty string. */
export function accentStyle(accent: string | undefined): string {
  if (accent === undefined) return "";
  const rgb = readColour(accent);
  const light = accentRules(rgb, { card: [255, 255, 255], towards: 0 });
  const dark = accentRules(rgb, { card: [23, 30, 27], towards: 255 });
  const parts = ".sheet :is(a, button)";
  return `${parts} { ${light} }\n@media (prefers-color-scheme: dark) { ${parts} { ${dark} } }\n`;
}

/**
 * Returns the style that gives the page the merchant's colour, or an empty string. For light pages, the
 * colour is mixed with white until dark text is readable on it. For dark pages, it is mixed with black until
 * it is darker than the card.
 */
export function backgroundStyle(background: string | undefined): string {
  if (background === undefined) return "";
  const rgb = readColour(background);
  const light = hex(mixedUntil(rgb, 255, [21, 32, 28], 4.5));
  const dark = hex(mixedUntil(rgb, 0, [238, 243, 240], 17));
  return `:root { --page: ${light}; }\n@media (prefers-color-scheme: dark) { :root { --page: ${dark}; } }\n`;
}

function readColour(colour: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

/** Returns a mixture of the colour with black (0) or white (255). `share` is the part of black or white. */
function mix(rgb: Rgb, towards: number, share: number): Rgb {
  return rgb.map((part) => Math.round(part + (towards - part) * share));
}

/** Mixes the colour with black (0) or white (255) until its contrast with `other` is `wanted`. */
function mixedUntil(rgb: Rgb, towards: number, other: Rgb, wanted: number): Rgb {
  let share = 0;
  while (contrast(mix(rgb, towards, share), other) < wanted) share += 0.02;
  return mix(rgb, towards, share);
}

/**
 * Returns the CSS variables of the colours on one card. The colour is mixed with black or white until its
 * contrast with the card is 4.5 to 1. Text on a button has the card's colour, so its contrast is the same.
 */
function accentRules(rgb: Rgb, { card, towards }: { card: Rgb; towards: number }): string {
  const main = mixedUntil(rgb, towards, card, 4.5);
  return `--accent: ${hex(main)}; --accent-strong: ${hex(mix(main, towards, 0.15))}; --on-accent: ${hex(card)};`;
}

function hex(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the contrast of two colours, as WCAG 2.2 defines it. */
function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(rgb: Rgb): number {
  const weights = [0.2126, 0.7152, 0.0722];
  const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return rgb.reduce((sum, part, index) => sum + weights[index]! * linear(part / 255), 0);
}
