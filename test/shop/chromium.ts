import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const chosen = process.env["CHROMIUM_PATH"];
const candidates =
  chosen === undefined
    ? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    : [chosen];

/** An installed Chromium; none is downloaded. */
export const chromiumPath = candidates.find((path) => existsSync(path));

/** Starts it in a profile of its own, so that nothing of an earlier run is remembered. */
export function launchChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("There is no Chromium to launch.");
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A suite for the browser; where there is none, one test that says so. */
export function describeInBrowser(name: string, suite: () => void): void {
  if (chromiumPath !== undefined) {
    describe(name, suite);
    return;
  }
  console.info(`Left out: "${name}". No Chromium was found; set CHROMIUM_PATH to the one to use.`);
  it(`leaves ${name} out, because no Chromium was found`, () => {
    expect(candidates.filter((path) => existsSync(path))).toEqual([]);
  });
}
