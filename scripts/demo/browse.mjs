import { setTimeout as pause } from "node:timers/promises";

/** Sends a form like a browser, but does not follow a redirect. */
export function post(url, form) {
  return fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams(form) });
}

/** Reads the kit's return page: its status, state and title. */
export async function returnPage(url) {
  const answer = await fetch(url);
  const page = await answer.text();
  return {
    status: answer.status,
    state: /data-state="(\w+)"/.exec(page)?.[1],
    title: /<title>(.*?)<\/title>/.exec(page)?.[1],
  };
}

/** Waits up to 5 seconds until a condition is true, because handlers run after the answer. */
export async function until(isTrue) {
  for (let left = 500; left > 0; left -= 1) {
    if (await isTrue()) return true;
    await pause(10);
  }
  return false;
}

/** Shortens the token of a return address for the timeline. */
export function shorten(address) {
  return address.replace(/(\/(success|cancel)\/.{8}).*/, "$1…");
}
