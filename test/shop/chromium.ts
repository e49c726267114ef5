import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const chosen = process.env["CHROMIUM_PATH"];
const candidates =
  chosen === undefined
    ? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    : [chosen];

/** The path of an installed Chromium. None is downloaded. */
export const chromiumPath = candidates.find((path) => existsSync(path));

/** Starts Chromium with a new profile, without data of an earlier run. */
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

/** Defines a suite for the browser. Without a browser, one test says that the suite is left out. */
export function describeInBrowser(name: string, suite: () => void): void {
  if (chromiumPath !== undefined) {
    describe(name, suite);
    return;
  }
  console.info(`Left out: "${name}". No Chromium was found; set CHROMIUM_PATH to its path.`);
  it(`leaves ${name} out, because no Chromium was found`, () => {
    expect(candidates.filter((path) => existsSync(path))).toEqual([]);
  });
}
