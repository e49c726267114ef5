import { html, type Html } from "./html.js";

const none = html``;

const clove = html`<path d="M-3.5-12 3.5-12 1.5 28h-3z" fill="#6e3b22" />
  <path d="M-4-10-13-19-6-17-4-24 0-18 4-24 6-17 13-19 4-10z" fill="#54290f" />
  <circle cy="-21" r="6.5" fill="#c98150" />`;

/** A drawing for each product. The drawings are part of the page, so it loads no other files. */
const drawings: Record<string, Html> = {
  cloves: html`<rect x="-60" width="240" height="90" fill="#f3d9c4" />
    <g transform="translate(30 50) rotate(-24)">${clove}</g>
    <g transform="translate(60 44)">${clove}</g>
    <g transform="translate(90 50) rotate(24)">${clove}</g>`,
  vanilla: html`<rect x="-60" width="240" height="90" fill="#e9e3cf" />
    <g fill="none" stroke="#3a2418" stroke-width="5.5" stroke-linecap="round">
      <path d="M22 74C44 58 58 40 66 14" /><path d="M36 78C58 62 72 42 78 18" /><path
        d="M52 79C72 66 86 46 90 26"
      />
    </g>
    <g fill="#fff6d8" stroke="#e2cf8e" stroke-width="1.5">
      <ellipse cx="40" cy="26" rx="6" ry="13" transform="rotate(-62 40 26)" />
      <ellipse cx="40" cy="26" rx="6" ry="13" transform="rotate(62 40 26)" />
      <ellipse cx="40" cy="24" rx="6" ry="14" />
    </g>
    <circle cx="40" cy="29" r="5" fill="#e8b53a" />`,
  ylang: html`<rect x="-60" width="240" height="90" fill="#d6e6dc" />
    <rect x="51" y="12" width="18" height="13" rx="3" fill="#26473f" />
    <path
      d="M53 25h14v7c9 3 13 9 13 17v22a8 8 0 0 1-8 8H48a8 8 0 0 1-8-8V49c0-8 4-14 13-17z"
      fill="#c98a2b"
    />
    <path d="M40 53h40v16H40z" fill="#fff8e6" />
    <g fill="#f0cf3c" stroke="#d9ae1d" stroke-width="1">
      <ellipse cx="92" cy="60" rx="4" ry="15" transform="rotate(25 92 60)" />
      <ellipse cx="92" cy="60" rx="4" ry="15" transform="rotate(85 92 60)" />
      <ellipse cx="92" cy="60" rx="4" ry="15" transform="rotate(145 92 60)" />
    </g>
    <circle cx="92" cy="60" r="4" fill="#b77f12" />
    <path d="M52 61h16" stroke="#c98a2b" stroke-width="3" stroke-linecap="round" />`,
  coconut: html`<rect x="-60" width="240" height="90" fill="#cfe8ee" />
    <path d="M28 46a32 32 0 0 0 64 0z" fill="#5f8f3e" />
    <ellipse cx="60" cy="46" rx="32" ry="12" fill="#86b35a" />
    <ellipse cx="60" cy="46" rx="25" ry="8.5" fill="#fffdf5" />
    <ellipse cx="60" cy="47.5" rx="19" ry="5.5" fill="#dceef0" />
    <path
      d="M64 46 80 12l9-3"
      fill="none"
      stroke="#e4572e"
      stroke-width="4"
      stroke-linecap="round"
      stroke-linejoin="round"
    />`,
  mango: html`<rect x="-60" width="240" height="90" fill="#fbe3b5" />
    <rect x="38" y="14" width="44" height="12" rx="4" fill="#2d6a5f" />
    <path d="M41 26h38c5 4 7 8 7 13v31a9 9 0 0 1-9 9H43a9 9 0 0 1-9-9V39c0-5 2-9 7-13z" fill="#f29a2e" />
    <path d="M34 45h52v22H34z" fill="#fffaf0" />
    <path d="M51 59c0-7 6-11 12-9s8 8 3 11-15 4-15-2z" fill="#ec7a1c" />
    <path d="M63 50c1-3 4-5 7-4-1 3-4 5-7 4z" fill="#4f8a3d" />`,
  basket: html`<rect x="-60" width="240" height="90" fill="#f2dfd8" />
    <path d="M38 42c0-34 44-34 44 0" fill="none" stroke="#8f5f2c" stroke-width="5" />
    <path d="M28 40h64l-8 34a6 6 0 0 1-6 5H42a6 6 0 0 1-6-5z" fill="#d6a35b" />
    <g stroke="#a8752f" stroke-width="2.5">
      <path d="M31 52h58M34 64h52" /><path d="M44 42 48 78M60 42v36M76 42 72 78" />
    </g>
    <rect x="25" y="36" width="70" height="9" rx="4.5" fill="#b5813a" />`,
};

/** Returns the drawing of a product. `wide` has more background to the left and right. */
export function drawing(productId: string, shape: "plain" | "wide" = "plain"): Html {
  const viewBox = shape === "wide" ? "-45 0 210 90" : "0 0 120 90";
  return html`<svg class="drawing" viewBox="${viewBox}" aria-hidden="true">
    ${drawings[productId] ?? none}
  </svg>`;
}
