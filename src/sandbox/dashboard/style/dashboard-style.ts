import { type Html, html } from "../../../pages/html.js";
import { deskFormsStyle } from "./forms-style.js";
import { deskListsStyle } from "./lists-style.js";

/** The developer's pages: where things stand. On a phone the navigation is above, on a wide screen beside. */
export function deskStyle(nonce: string): Html {
  return html`<style nonce="${nonce}">
      .skip {
        position: absolute;
        z-index: 1;
        top: 0;
        left: 0;
        padding: 0.75rem 1rem;
        background: var(--card);
        transform: translateY(-110%);
      }
      .skip:focus {
        transform: none;
      }
      .nav {
        background: var(--card);
        box-shadow: inset 0 -1px var(--line);
        padding: 0.75rem 1rem 0;
      }
      .nav .brand {
        display: flex;
        align-items: center;
        gap: 0.625rem;
        font-weight: 650;
        overflow-wrap: anywhere;
      }
      .nav .brand svg {
        flex: none;
        width: 1.75rem;
        height: 1.75rem;
      }
      .nav ul {
        display: flex;
        flex-wrap: wrap;
      }
      .nav a {
        display: flex;
        align-items: center;
        min-height: 2.75rem;
        padding: 0 clamp(0.4rem, 2.6vw, 0.75rem);
        font-size: clamp(0.9rem, 4.2vw, 1rem);
        color: var(--soft);
        font-weight: 550;
        text-decoration: none;
      }
      .nav a:hover {
        color: var(--ink);
        text-decoration: underline;
      }
      .nav .tabs {
        margin: 0.25rem -0.5rem 0;
      }
      .nav .tabs [aria-current] {
        color: var(--accent);
        box-shadow: inset 0 -3px var(--accent);
      }
      .nav .section {
        display: none;
        margin: 0 -1rem;
        padding: 0.25rem;
        background: var(--page);
        box-shadow: inset 0 -1px var(--line);
      }
      .nav .section.open {
        display: flex;
      }
      .nav .section a {
        font-size: 0.9375rem;
      }
      .nav .section [aria-current] {
        color: var(--accent);
        text-decoration: underline;
        text-decoration-thickness: 2px;
      }
      .desk {
        width: 100%;
        max-width: 62rem;
        margin: 0 auto;
        padding: 1.5rem 1rem 4rem;
        padding-bottom: max(4rem, env(safe-area-inset-bottom));
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        align-content: start;
        gap: 2rem;
        outline: none;
      }
      .desk h1 {
        font-size: 1.625rem;
        line-height: 1.25;
        font-weight: 650;
        letter-spacing: -0.015em;
      }
      .desk h2 {
        font-size: 1.125rem;
        line-height: 1.35;
        font-weight: 600;
      }
      .desk h3 {
        font-weight: 600;
      }
      .lead {
        margin-top: 0.375rem;
        max-width: 44rem;
        color: var(--soft);
        text-wrap: pretty;
      }
      .head {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        justify-content: space-between;
        gap: 0.25rem 1rem;
        margin-bottom: 0.625rem;
      }
      .head > a {
        display: inline-flex;
        align-items: center;
        min-height: 2.75rem;
      }
      .head + .lead {
        margin: -0.375rem 0 0.875rem;
      }
      .back {
        display: inline-flex;
        align-items: center;
        min-height: 2.75rem;
      }
      .title {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.25rem 0.75rem;
      }
      .told {
        padding: 0.75rem 1rem;
        border-radius: 0.75rem;
        background: var(--tint);
        color: var(--accent);
        font-weight: 550;
        overflow-wrap: anywhere;
      }
      .told a {
        color: inherit;
      }
      .told.bad {
        white-space: pre-line;
        background: var(--bad-tint);
        color: var(--bad);
      }
      .told.note {
        background: var(--note);
        color: var(--note-ink);
      }
      @media (min-width: 60rem) {
        .sides {
          flex: 1;
          display: grid;
          grid-template-columns: 15rem minmax(0, 1fr);
          background: linear-gradient(to right, var(--card) 15rem, transparent 15rem);
        }
        .nav {
          position: sticky;
          top: 0;
          align-self: start;
          max-height: 100vh;
          overflow-y: auto;
          padding: 1.5rem 1rem;
          box-shadow: none;
        }
        .nav .brand {
          padding: 0 0.75rem;
        }
        .nav ul,
        .nav .section,
        .nav .section.open {
          display: block;
        }
        .nav .tabs {
          margin: 1.25rem 0 0;
        }
        .nav a,
        .nav .section a {
          border-radius: 0.625rem;
        }
        .nav .tabs [aria-current="page"],
        .nav .section [aria-current] {
          background: var(--tint);
          box-shadow: none;
          text-decoration: none;
        }
        .nav .tabs [aria-current="true"] {
          box-shadow: none;
        }
        .nav .section {
          margin: 0 0 0 0.75rem;
          padding: 0 0 0 0.5rem;
          background: none;
          box-shadow: inset 1px 0 var(--line);
        }
        .desk {
          margin: 0;
          padding: 2.25rem 3rem 5rem;
        }
      }
    </style>
    ${deskListsStyle(nonce)} ${deskFormsStyle(nonce)}`;
}
