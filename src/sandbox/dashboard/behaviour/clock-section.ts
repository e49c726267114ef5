import { type Html, html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { moment, timeSpan } from "../../../pages/format/moment.js";
import { behaviourWords } from "./behaviour-words.js";
import { places } from "../frame.js";
import { chosen, fact } from "../pieces.js";
import { type View } from "../view.js";

/** So many milliseconds are in each unit that the clock can be put forward by. */
export const clockUnits = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

type Unit = keyof typeof clockUnits;

const steps = { minute: "minutes", hour: "hours", day: "days" } as const satisfies Record<string, Unit>;

/** The sandbox's time, and the buttons that put it forward. */
export function clockSection({ clock, seed }: Sandbox, view: View): Html {
  const { language, root, typed } = view;
  const words = behaviourWords[language];
  const now = clock.now();
  const aheadMs = now.getTime() - Date.now();
  const action = `${root}${places.behaviour}/clock`;
  return html`<section aria-labelledby="clock">
    <div class="head"><h2 id="clock">${words.clock}</h2></div>
    <div class="panel">
      <dl class="panel-part facts">
        ${fact(
          words.now,
          html`${moment(now, language)}<br /><span class="hint"
              >${aheadMs < 1000 ? words.withMachine : words.ahead(timeSpan(aheadMs, language))}</span
            >`,
        )}
        ${fact(words.seed, seed === undefined ? words.noSeed : html`<code>${seed}</code>`)}
      </dl>
      <div class="fields">
        <p class="hint">${words.clockHint}</p>
        <div class="buttons" role="group" aria-label="${words.forward}">
          ${Object.entries(steps).map(
            ([step, unit]) =>
              html`<form method="post" action="${action}">
                <input type="hidden" name="amount" value="1" />
                <button class="button" name="unit" value="${unit}">
                  + ${words.steps[step as keyof typeof steps]}
                </button>
              </form>`,
          )}
        </div>
        <form class="advance" method="post" action="${action}">
          <div class="field">
            <label for="amount">${words.by}</label>
            <input
              id="amount"
              name="amount"
              inputmode="decimal"
              required
              autocomplete="off"
              value="${typed?.text("amount")}"
            />
          </div>
          <div class="field">
            <label for="unit">${words.unit}</label>
            <select id="unit" name="unit">
              ${(Object.keys(clockUnits) as Unit[]).map(
                (unit) =>
                  html`<option value="${unit}" ${chosen(unit === (typed?.text("unit") || "minutes"))}>
                    ${words.units[unit]}
                  </option>`,
              )}
            </select>
          </div>
          <button class="button">${words.advance}</button>
        </form>
      </div>
    </div>
  </section>`;
}
