import { stripVTControlCharacters } from "node:util";
import { createServer } from "node:http";
import { once } from "node:events";
import { type AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import { createOutput, oneLine, textBar, wrap } from "../../../src/cli/terminal/output.js";
import { runCli } from "../support/run-cli.js";

/** Texts that a terminal obeys, or that show another text than they are. */
const hostile: Record<string, string> = {
  "a colour": "\u001b[31mred\u001b[0m",
  "a cleared screen": "\u001b[2J\u001b[H",
  "a window's title": "\u001b]0;owned\u0007",
  "a link": "\u001b]8;;http://evil.example\u001b\\click\u001b]8;;\u001b\\",
  "a sequence of C1": "\u009b2J\u009d0;owned\u009c",
  "a carriage return": "refused\rHTTP 200 accepted",
  "a bell and backspaces": "\u0007\b\b\b",
  "reversed directions": "\u202etxt.exe\u202c \u2066isolated\u2069 \u200f",
  "line separators": "one\u2028two\u2029three",
  "hidden characters": "pay\u200bment\ufeff \u{e0041}\u{e0042}",
  "a null and a delete": "\u0000\u007f",
};
/** What no output may have beside the colours of the kit. */
const obeyed = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\u2028\u2029\u200b\ufeff\u{e0000}-\u{e007f}]/u;
const withoutColours = (text: string) => stripVTControlCharacters(text);

/** Returns what the output writes for a text: for people, and as JSON. */
async function written(text: string): Promise<{ printed: string; json: string }> {
  const [printed, json, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  createOutput({ stdout: printed, stderr, env: {} }, false).print(text);
  createOutput({ stdout: json, stderr, env: {} }, true).printJson(text);
  return { printed: await readAll(printed.end()), json: await readAll(json.end()) };
}

it.each(Object.entries(hostile))("escapes %s", async (_, text) => {
  const { printed, json } = await written(text);
  expect(printed + json).not.toMatch(obeyed);
  expect(JSON.parse(json)).toBe(text);
});

it("leaves letters, line breaks and tabs as they are", async () => {
  const text = "Amélie\tпривет 你好 👋🏽 مرحبا\n";
  expect((await written(text)).printed).toBe(`${text}\n`);
});

it.each([
  [80, 80],
  [20, 60],
  [200, 100],
  [undefined, 100],
])("is as wide as a terminal of %j columns, from 60 to 100: %i", (columns, width) => {
  const stdout = Object.assign(new PassThrough(), columns !== undefined && { columns });
  expect(createOutput({ stdout, stderr: new PassThrough(), env: {} }, false).width).toBe(width);
});

describe("what strangers send to a command", () => {
  const all = Object.values(hostile).join(" ");

  it.each([false, true])(
    "is printed with its control characters escaped (on a terminal: %s)",
    async (terminal) => {
      const server = createServer((_, response) => response.writeHead(404).end(all)).listen(0, "127.0.0.1");
      await once(server, "listening");
      const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const argv = [
        "payment.completed",
        "--to",
        to,
        "--client-id",
        "c-1",
        "--secret",
        "8b1f5c6e0d2a4978b3c1e7f60a9d5b24",
      ];
      const { stdout, stderr } = await runCli(["trigger", ...argv], { terminal });
      server.close();
      expect(stdout).toContain("answered \\u001b[31mred\\u001b[0m");
      // The colours are the kit's own; without a terminal there are none.
      const printed = stdout + stderr;
      expect(terminal ? withoutColours(printed) : printed).not.toMatch(obeyed);
      expect(stdout.includes("\u001b[31m404")).toBe(terminal);
    },
  );

  it.each([
    [[all]],
    [["sign", all]],
    [["trigger", all]],
    [["help", all]],
    [["migrate", "--store", all, "--check"]],
  ])("is escaped in errors: %#", async (argv) => {
    const { stdout, stderr } = await runCli(argv);
    expect(stdout + stderr).not.toMatch(obeyed);
    const json = await runCli([...argv, "--json"]);
    expect(json.stdout + json.stderr).not.toMatch(obeyed);
  });
});

it("a line that is drawn appears only on a terminal", async () => {
  const written = async (isTTY: boolean) => {
    const stderr = Object.assign(new PassThrough(), { isTTY });
    const output = createOutput({ stdout: new PassThrough(), stderr, env: {} }, false);
    output.draw("1 of 2");
    output.draw(undefined);
    return readAll(stderr.end());
  };
  expect([await written(false), await written(true)]).toEqual(["", "\r\u001b[K1 of 2\r\u001b[K"]);
});

it("a bar of progress is full only at the end", () => {
  const bars = [0, 0.5, 0.99, 1].map((share) => textBar(share));
  const lengths = bars.map((bar) => /^\[(#*) *\]$/.exec(bar)![1]!.length);
  expect([lengths, new Set(bars.map((bar) => bar.length))]).toEqual([[0, 12, 23, 24], new Set([26])]);
});

it("a text is wrapped to its width, and a command at its end stays whole", () => {
  expect([wrap("aa bb", 5), wrap("aa bb", 4, "  "), wrap("abcdef g", 3)]).toEqual([
    "aa bb",
    "aa\n  bb",
    "abcdef\ng",
  ]);
  expect(wrap("See: npx tillkit help sign", 12)).toBe("See:\nnpx tillkit help sign");
});

it("foreign text can be printed on one line, so that it looks like no line of a command", () => {
  expect(oneLine("refused\r\nEvery forged webhook was refused.")).toBe(
    "refused\\r\\nEvery forged webhook was refused.",
  );
});
