import { html } from "../../src/pages/html.js";
import { drawing, htmlPage, newNonce, statusSign } from "../../src/pages/page.js";

const page = { language: "en", title: "Paid & sent", style: "p > b { color: red }", body: html`<p>Paid</p>` };

describe("a page", () => {
  it("gives its style and its script the nonce of the response, and neither without one", () => {
    const script = "if (1 < 2) history.back()";
    const markup = htmlPage({ ...page, script, nonce: "a-nonce" }).toString();
    expect(markup).toContain(`<style nonce="a-nonce">${page.style}</style>`);
    expect(markup).toContain(`<script nonce="a-nonce">${script}</script>`);
    expect(htmlPage({ ...page, script }).toString()).toContain(`<style>${page.style}</style>`);
    expect(htmlPage(page).toString()).not.toContain("<script");
  });

  it("escapes its title, and is not found by search engines", () => {
    const markup = htmlPage(page).toString();
    expect(markup).toContain("<title>Paid &amp; sent</title>");
    expect(markup).toContain('<meta name="robots" content="noindex" />');
    expect(markup).toContain("<p>Paid</p>");
    expect(markup).toContain('<meta charset="utf-8" />');
    expect(markup).toContain('<meta name="viewport" content="width=device-width, initial-scale=1" />');
    const head = html`<base href="/shop/" />`;
    expect(htmlPage({ ...page, head }).toString()).toMatch(/<head>[^]*<base href="\/shop\/" \/>[^]*<\/head>/);
  });

  it.each([
    ...["ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"].map((language) => [language, "rtl"]),
    ["en", "ltr"],
    ["fr", "ltr"],
  ])("in %s is written %s", (language, direction) => {
    const markup = htmlPage({ ...page, language }).toString();
    expect(markup).toContain(`<html lang="${language}" dir="${direction}">`);
  });

  it("asks for no icon unless it has one", () => {
    expect(htmlPage(page).toString()).toContain('<link rel="icon" href="data:," />');
    expect(htmlPage({ ...page, icon: "/icon.svg" }).toString()).toContain('href="/icon.svg"');
  });
});

it("a nonce is new for each response, and has 128 bits", () => {
  const nonces = Array.from({ length: 20 }, () => newNonce());
  expect(new Set(nonces).size).toBe(20);
  for (const nonce of nonces) expect(Buffer.from(nonce, "base64")).toHaveLength(16);
});

it("a drawing is ignored by screen readers", () => {
  expect(drawing("tick").toString()).toMatch(/^<svg class="drawing tick" .*aria-hidden="true"/);
  expect(drawing("cross").toString()).not.toContain(/<path.*>/.exec(drawing("tick").toString())![0]);
  const sign = statusSign("tick", "good").toString();
  expect(sign).toBe(`<div class="sign good" aria-hidden="true">${drawing("tick").toString()}</div>`);
});
