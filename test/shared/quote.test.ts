import { quote } from "../../src/shared/quote.js";

it.each([
  ["ASCII is kept", "order 1", '"order 1"'],
  ["quotes and backslashes are escaped", 'a"b\\', '"a\\"b\\\\"'],
  ["control characters are escaped", "a\n\u001b", '"a\\u000a\\u001b"'],
  ["other characters are escaped by their units", "é😀", '"\\u00e9\\ud83d\\ude00"'],
  ["59 characters are kept", "a".repeat(59), `"${"a".repeat(59)}"`],
  ["more end with dots", "a".repeat(80), `"${"a".repeat(59)}..."`],
  ["no escape is cut", `${"a".repeat(55)}é${"a".repeat(9)}`, `"${"a".repeat(55)}..."`],
])("a quoted text: %s", (_, text, expected) => {
  expect(quote(text)).toBe(expected);
  expect(quote(text).length).toBeLessThanOrEqual(64);
});
