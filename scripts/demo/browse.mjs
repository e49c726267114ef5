import { setTimeout as pause } from "node:timers/promises";

/** Sends a form as a browser does, and stays where the redirect begins. */
export function post(url, form) {
  return fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams(form) });
}

/** What the kit's page says to somebody who came back. */
export async function returnPage(url) {
  const answer = await fetch(url);
  const page = await answer.text();
  return {
    status: answer.status,
    state: /data-state="(\w+)"/.exec(page)?.[1],
    title: /<title>(.*?)<\/title>/.exec(page)?.[1],
  };
}

/** Whether it becomes true in time: handlers run after the answer. */
export async function until(isTrue) {
  for (let left = 500; left > 0; left -= 1) {
    if (await isTrue()) return true;
    await pause(10);
  }
  return false;
}

/** Return addresses carry a token; the timeline need not. */
export function shorten(address) {
  return address.replace(/(\/(success|cancel)\/.{8}).*/, "$1…");
}
