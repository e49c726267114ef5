/**
 * Asks for the state until it is final, and changes the page in place. It waits longer each time and stops after a
 * quarter of an hour: by then nobody is looking, and the page says the same when it is opened again. Somebody who
 * comes back from another app is answered at once: in the background, a phone puts timers off.
 */
export const liveScript = `
(() => {
  const main = document.querySelector("main");
  const address = location.pathname.replace(/\\/+$/, "") + "/state";
  const until = Date.now() + 15 * 60 * 1000;
  let wait = 700;
  let timer;
  let over = false;
  const ask = async () => {
    clearTimeout(timer);
    try {
      const answer = await fetch(address, { cache: "no-store", headers: { Accept: "application/json" } });
      if (answer.status === 404) over = true;
      if (answer.ok) show(await answer.json());
    } catch {}
    wait = Math.min(wait * 1.2, 5000);
    clearTimeout(timer);
    if (!over && Date.now() < until) timer = setTimeout(ask, wait);
  };
  const show = ({ state, title, message, final }) => {
    if (over) return;
    over = final;
    if (state === main.dataset.state) return;
    main.dataset.state = state;
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("message").textContent = message;
  };
  document.addEventListener("visibilitychange", () => {
    if (!over && !document.hidden) ask();
  });
  timer = setTimeout(ask, wait);
})();
`;
