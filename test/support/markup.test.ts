import { saidBy, shapeOf, tokenize } from "./markup.js";

describe("the tests' reader of pages", () => {
  it("reads tags, attributes and text", () => {
    const page =
      '<!doctype html><p class="a &amp; b" hidden>1 &lt; 2<br /></p><script nonce="x">if (a < b) "</p>";</script>';
    expect(shapeOf(page)).toEqual(["<p class hidden>", "<br>", "</p>", "<script nonce>", "</script>"]);
    expect(saidBy(page)).toEqual(["a & b", "", "1 < 2", "x"]);
  });

  it.each([
    ["an inserted tag", "<p><b>x</b></p>", "<p>x</p>"],
    ["an inserted attribute", '<p title="" onclick="x">', '<p title="">'],
    ["the end of a script", "<script></script></script>", "<script></script>"],
  ])("tells %s apart", (_, forged, honest) => {
    expect(shapeOf(forged)).not.toEqual(shapeOf(honest));
  });

  it.each(["a < b", "<p title=x>", "<p title='x'>", "a & b", "&nbsp;", "<!-- x -->", "<p"])(
    "throws for %s",
    (page) => {
      expect(() => tokenize(page)).toThrow(Error);
    },
  );
});
