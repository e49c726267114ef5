import { type Html, html } from "../../../pages/html.js";

/** The developer's pages: panels of rows and of facts. */
export function deskListsStyle(nonce: string): Html {
  return html`<style nonce="${nonce}">
    .panel {
      background: var(--card);
      border-radius: 1rem;
      box-shadow: var(--shadow);
    }
    .panel > * {
      padding: 0.875rem 1rem;
    }
    .panel > * + * {
      border-top: 1px solid var(--line);
    }
    .panel > :first-child {
      border-radius: 1rem 1rem 0 0;
    }
    .panel > :last-child {
      border-radius: 0 0 1rem 1rem;
    }
    .panel > :only-child {
      border-radius: 1rem;
    }
    .panel + .panel,
    .panel + form,
    form + .panel,
    .lead + .panel,
    .lead + form,
    .told + .panel {
      margin-top: 1rem;
    }
    .facts > div {
      display: grid;
      grid-template-columns: minmax(0, 1fr);
      gap: 0.125rem 1.5rem;
    }
    .facts dt {
      color: var(--soft);
      font-size: 0.875rem;
    }
    .facts dd {
      min-width: 0;
    }
    .facts dd + dd {
      margin-top: 0.5rem;
    }
    .value {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      justify-content: space-between;
      gap: 0.25rem 0.75rem;
    }
    .value > :first-child {
      flex: 1 1 12rem;
      min-width: 0;
    }
    .row {
      position: relative;
      display: grid;
      gap: 0.125rem 1rem;
      align-items: center;
      grid-template-columns: minmax(0, 1fr) auto;
    }
    .row .what {
      overflow-wrap: anywhere;
      font-weight: 600;
      font-variant-numeric: tabular-nums;
      color: var(--ink);
    }
    .row a.what {
      text-decoration: none;
    }
    /* The whole row is the link's target. */
    .row a.what::after {
      content: "";
      position: absolute;
      inset: 0;
      border-radius: inherit;
    }
    .row a.what:focus-visible {
      outline: none;
    }
    .row a.what:focus-visible::after {
      outline: 3px solid var(--focus);
      outline-offset: -3px;
    }
    .row:has(a.what):hover {
      background: var(--tint);
    }
    .row .more {
      grid-column: 1 / -1;
      color: var(--soft);
      font-size: 0.875rem;
      overflow-wrap: anywhere;
    }
    /* What is pressed stands beside all lines of a row; where there is little room, below them. */
    .row .control {
      grid-column: 2;
      grid-row: 1 / span 3;
    }
    .row:has(.control) .more {
      grid-column: 1;
    }
    .row .when {
      display: block;
    }
    .pill {
      padding: 0.125rem 0.625rem;
      border-radius: 1rem;
      font-size: 0.8125rem;
      font-weight: 600;
      white-space: nowrap;
      background: var(--page);
      color: var(--soft);
      box-shadow: inset 0 0 0 1px var(--line);
    }
    .pill.good {
      background: var(--tint);
      color: var(--accent);
      box-shadow: none;
    }
    .pill.bad {
      background: var(--bad-tint);
      color: var(--bad);
      box-shadow: none;
    }
    .pill.note {
      background: var(--note);
      color: var(--note-ink);
      box-shadow: none;
    }
    /* A panel may hold a list of its own. */
    .panel > .panel-part,
    .panel > .plain {
      padding: 0;
    }
    .panel-part > *,
    .plain > * {
      padding: 0.875rem 1rem;
    }
    .panel-part > * + *,
    .plain > * + * {
      border-top: 1px solid var(--line);
    }
    .headers > div {
      margin-top: 0.375rem;
    }
    .headers dt {
      color: var(--soft);
    }
    .panel h3 {
      margin-bottom: 0.25rem;
    }
    .again {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 0.5rem 1rem;
    }
    .again .hint {
      flex: 1 1 16rem;
    }
    .empty {
      color: var(--soft);
    }
    .empty strong {
      display: block;
      color: var(--ink);
      font-weight: 600;
    }
    pre {
      white-space: pre-wrap;
    }
    details > summary {
      display: flex;
      align-items: center;
      gap: 0.5rem;
      min-height: 2.75rem;
      cursor: pointer;
      color: var(--accent);
      font-weight: 550;
      list-style: none;
    }
    details > summary::-webkit-details-marker {
      display: none;
    }
    details > summary::before {
      content: "";
      flex: none;
      width: 0.5rem;
      height: 0.5rem;
      margin: 0 0.125rem;
      border: solid currentColor;
      border-width: 0 2px 2px 0;
      transform: rotate(-45deg);
    }
    details[open] > summary::before {
      transform: rotate(45deg);
    }
    .pages {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      justify-content: space-between;
      gap: 0 1rem;
      margin-top: 0.5rem;
    }
    .pages a {
      display: inline-flex;
      align-items: center;
      min-height: 2.75rem;
    }
    .three {
      display: grid;
      gap: 1rem;
      grid-template-columns: minmax(0, 1fr);
    }
    .card {
      display: flex;
      flex-direction: column;
      gap: 0.25rem;
      padding: 1rem;
      border-radius: 1rem;
      background: var(--card);
      box-shadow: var(--shadow);
    }
    .card .state {
      font-size: 1.125rem;
      line-height: 1.4;
      font-weight: 600;
      overflow-wrap: anywhere;
    }
    .card .label,
    .card .small {
      color: var(--soft);
      font-size: 0.875rem;
    }
    .card .foot {
      margin-top: auto;
      padding-top: 0.5rem;
    }
    @media (max-width: 39.99rem) {
      .row .control.wide {
        grid-column: 1;
        grid-row: auto;
        margin-top: 0.5rem;
      }
    }
    @media (min-width: 40rem) {
      .row .when {
        display: inline;
      }
      .row .when::before {
        content: "· ";
      }
      .facts > div {
        grid-template-columns: 13rem minmax(0, 1fr);
        align-items: baseline;
      }
      .facts > .centred {
        align-items: center;
      }
      .facts dd {
        grid-column: 2;
      }
      .panel > *,
      .panel-part > *,
      .plain > * {
        padding: 0.875rem 1.25rem;
      }
      .headers > div {
        display: grid;
        grid-template-columns: 13rem minmax(0, 1fr);
        gap: 1.5rem;
      }
      .three {
        grid-template-columns: repeat(3, minmax(0, 1fr));
      }
    }
  </style>`;
}
