import { delayedAfterMs } from "../../checkout/handle-return.js";

/** The time during which a page asks for the state. */
export const liveMs = 15 * 60 * 1000;

/**
 * A script that asks for the state of the payment until the state is final, at growing intervals. After a
 * quarter of an hour, the script stops and the page shows this. When the customer comes back from another
 * app, the script asks immediately, and for another quarter of an hour. This is necessary because a phone
 * delays the timers of hidden pages. After a minute without a decision, the page shows that the payment is
 * delayed, even if no request was answered. The script also updates the amount, because a person may have
 * accepted another amount.
 */
export const liveScript = `
(() => {
  const main = document.querySelector("main");
  const address = location.pathname.replace(/\\/+$/, "") + "/state";
  const opened = Date.now();
  let until = opened + ${liveMs};
  let wait = 700;
  let timer;
  let over = false;
  delete main.dataset.ended;
  const ask = async () => {
    clearTimeout(timer);
    try {
      const answer = await fetch(address, { cache: "no-store", headers: { Accept: "application/json" } });
      if (answer.status === 404) until = 0;
      if (answer.ok) show(await answer.json());
    } catch {}
    if (main.dataset.state === "confirming" && Date.now() >= opened + ${delayedAfterMs})
      show({ state: "delayed", title: main.dataset.delayedTitle, message: main.dataset.delayedMessage });
    wait = Math.min(wait * 1.2, 5000);
    clearTimeout(timer);
    if (over) return;
    if (Date.now() < until) timer = setTimeout(ask, wait);
    else main.dataset.ended = "";
  };
  const show = ({ state, title, message, final, canClaim, amount, receipt }) => {
    if (over) return;
    over = final;
    const now = main.dataset.state;
    if (amount !== undefined) document.getElementById("amount").textContent = amount;
    if (canClaim) main.dataset.canClaim = "";
    if (receipt !== undefined) {
      const value = document.getElementById("receipt");
      value.textContent = receipt;
      value.parentElement.hidden = false;
    }
    if (state === now || (state === "confirming" && now === "delayed")) return;
    main.dataset.state = state;
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("message").textContent = message;
  };
  document.addEventListener("visibilitychange", () => {
    if (over || document.hidden || until === 0) return;
    until = Date.now() + ${liveMs};
    delete main.dataset.ended;
    ask();
  });
  timer = setTimeout(ask, wait);
})();
`;
