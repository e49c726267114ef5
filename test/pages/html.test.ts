import { fc } from "../support/property.js";
import { html } from "../../src/pages/html.js";

/** Returns what a browser reads from the escaped text. It shares no code with the escaping on purpose. */
function readBack(markup: string): string {
  const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return markup.replace(/&(?:#(\d+)|(\w+));/g, (_all, code: string | undefined, name: string | undefined) =>
    code === undefined ? named[name!]! : String.fromCharCode(Number(code)),
  );
}

const meaningful = ["&", "<", ">", '"', "'", "`", ";", "#", "=", " ", "amp", "lt", "39", "\ud800", "\u2028"];

/** Any string, and often one made of the characters that mean something in markup. */
const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(...meaningful) }));

describe("html", () => {
  it("leaves nothing in any string that could end a text or a quoted attribute", () => {
    fc.assert(
      fc.property(text, (value) => {
        const escaped = html`${value}`.toString();
        expect(escaped).not.toMatch(/[<>"'`]/);
        expect(escaped).not.toMatch(/&(?!(?:amp|lt|gt|quot|#39|#96);)/);
      }),
    );
  });

  it("lets a reader get back exactly the string that was put in", () => {
    fc.assert(
      fc.property(text, (value) => {
        const markup = html`<p title="${value}">${value}</p>`.toString();
        const [, attribute, content] = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(markup)!;
        expect(readBack(attribute!)).toBe(value);
        expect(readBack(content!)).toBe(value);
      }),
    );
  });

  it("escapes every item of a list once, however deep the markup around it", () => {
    fc.assert(
      fc.property(fc.array(text), (values) => {
        const items = values.map((value) => html`<li>${value}</li>`);
        const once = values.map((value) => `<li>${html`${value}`.toString()}</li>`).join("");
        expect(html`${items}`.toString()).toBe(once);
        expect(html`${html`${[[items]]}`}`.toString()).toBe(once);
      }),
    );
  });

  it("prints zero, and nothing for undefined, null and false", () => {
    expect(html`[${0}][${undefined}][${null}][${false}][${""}]`.toString()).toBe("[0][][][][]");
  });
});
