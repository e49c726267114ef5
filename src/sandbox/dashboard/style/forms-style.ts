import { type Html, html } from "../../../pages/html.js";

/** The developer's pages: what is pressed and what is filled in. */
export function deskFormsStyle(nonce: string): Html {
  return html`<style nonce="${nonce}">
    .button {
      appearance: none;
      display: inline-flex;
      align-items: center;
      justify-content: center;
      min-width: 2.75rem;
      min-height: 2.75rem;
      padding: 0.375rem 1rem;
      border: 1px solid var(--edge);
      border-radius: 0.75rem;
      font: inherit;
      font-weight: 600;
      text-align: center;
      text-decoration: none;
      cursor: pointer;
      background: var(--card);
      color: var(--ink);
    }
    .button:hover {
      background: var(--tint);
    }
    .button.main {
      border-color: transparent;
      background: var(--accent);
      color: var(--on-accent);
    }
    .button.main:hover,
    .button.main:active {
      background: var(--accent-pressed);
    }
    .button.grave {
      color: var(--bad);
    }
    .button.grave:hover {
      background: var(--bad-tint);
    }
    .buttons {
      display: flex;
      flex-wrap: wrap;
      gap: 0.5rem;
    }
    /* What needs a script, and a browser that lets it, shows itself only then. */
    html:not(.can-copy) [data-copy],
    html:not(.can-read-files) [data-fills] {
      display: none;
    }
    .field {
      display: grid;
      gap: 0.25rem;
      min-width: 0;
    }
    .field label,
    .fieldset legend,
    .label {
      font-weight: 550;
    }
    .fieldset legend {
      margin-bottom: 0.25rem;
    }
    .hint {
      color: var(--soft);
      font-size: 0.875rem;
      overflow-wrap: anywhere;
    }
    .wrong {
      color: var(--bad);
      font-size: 0.875rem;
      font-weight: 550;
    }
    input:not([type="checkbox"]),
    select,
    textarea {
      width: 100%;
      min-height: 2.75rem;
      padding: 0.5rem 0.75rem;
      border: 1px solid var(--edge);
      border-radius: 0.75rem;
      background: var(--card);
      color: var(--ink);
    }
    input,
    select {
      font: inherit;
    }
    input[aria-invalid="true"],
    textarea[aria-invalid="true"] {
      border: 2px solid var(--bad);
    }
    textarea {
      min-height: 11rem;
      resize: vertical;
    }
    .check {
      position: relative;
      display: grid;
      grid-template-columns: auto minmax(0, 1fr);
      align-items: start;
      align-content: start;
      gap: 0 0.75rem;
      min-height: 2.75rem;
      padding: 0.5rem 0;
    }
    .check input {
      position: relative;
      z-index: 1;
      width: 1.375rem;
      height: 1.375rem;
      margin: 0.0625rem 0 0;
      accent-color: var(--accent);
    }
    .check label {
      font-weight: 550;
      cursor: pointer;
    }
    /* The label's target is the whole line. */
    .check label::after {
      content: "";
      position: absolute;
      inset: 0;
      min-height: 2.75rem;
    }
    .check .hint {
      grid-column: 2;
    }
    .fields > .check + .check {
      margin-top: -0.75rem;
    }
    .fields {
      display: grid;
      gap: 1rem;
      grid-template-columns: minmax(0, 1fr);
    }
    .inline {
      display: grid;
      gap: 0.75rem;
      grid-template-columns: minmax(0, 1fr);
      align-items: end;
    }
    .fieldset {
      min-width: 0;
    }
    .panel > .fieldset > legend {
      float: left;
      width: 100%;
      margin-bottom: 0;
      font-size: 1.0625rem;
      font-weight: 600;
    }
    .boxes {
      display: flex;
      flex-wrap: wrap;
      gap: 0 1.5rem;
    }
    .boxes .check {
      min-width: 7rem;
    }
    .advance {
      display: grid;
      gap: 0.75rem;
      grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
      align-items: end;
    }
    .advance .button {
      grid-column: 1 / -1;
    }
    .groups {
      display: grid;
      gap: 2rem;
      grid-template-columns: minmax(0, 1fr);
    }
    @media (min-width: 40rem) {
      .inline {
        grid-template-columns: minmax(0, 1fr) auto;
      }
      .advance {
        grid-template-columns: 8rem 12rem auto;
        justify-content: start;
      }
      .advance .button {
        grid-column: auto;
      }
      .fields.two {
        grid-template-columns: repeat(2, minmax(0, 1fr));
      }
    }
  </style>`;
}
