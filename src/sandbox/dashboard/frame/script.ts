/**
 * The script of the dashboard, which adds copy buttons and keeps lists up to date. The pages also work
 * without the script. The script closes its connection while the page is in the background, because a browser
 * opens only a few connections to one server.
 */
export const dashboardScript = `
(() => {
  const main = document.querySelector("main");
  const status = document.getElementById("live-status");
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  history.replaceState(null, "", main.dataset.page);

  if (navigator.clipboard) document.documentElement.classList.add("can-copy");
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("button[data-copy]");
    if (button === null) return;
    const label = button.firstElementChild;
    const usual = label.dataset.usual ??= label.textContent;
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      label.textContent = status.textContent = button.dataset.copied;
      setTimeout(() => { label.textContent = usual; }, 2000);
    } catch {}
  });

  if (document.querySelector("[data-live]") === null) return;
  let connection;
  let wait;
  const refresh = async () => {
    const answer = await fetch(main.dataset.page, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    // Without the head: its styles carry the nonce of another answer, which this page's policy refuses.
    const text = await answer.text();
    const fresh = new DOMParser().parseFromString(text.slice(text.indexOf("<main"), text.indexOf("</main>")), "text/html");
    for (const region of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(region.id);
      if (next === null || next.innerHTML === region.innerHTML) continue;
      const focused = region.contains(document.activeElement) && document.activeElement.getAttribute("href");
      region.innerHTML = next.innerHTML;
      if (focused) [...region.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
      if (region.dataset.live !== next.dataset.live) status.textContent = next.dataset.live;
      region.dataset.live = next.dataset.live;
    }
  };
  const refreshLater = () => {
    clearTimeout(wait);
    wait = setTimeout(() => refresh().catch(() => {}), 80);
  };
  const follow = async () => {
    connection = new AbortController();
    const { signal } = connection;
    try {
      const answer = await fetch(main.dataset.events, { signal });
      refreshLater();
      for (const reader = answer.body.getReader(); !(await reader.read()).done; ) refreshLater();
    } catch {}
    setTimeout(() => { if (!signal.aborted && !document.hidden) follow(); }, 2000);
  };
  document.addEventListener("visibilitychange", () => {
    connection?.abort();
    if (!document.hidden) follow();
  });
  addEventListener("pagehide", () => connection?.abort());
  follow();
})();
`;
