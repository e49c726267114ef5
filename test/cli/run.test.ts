import { attentionRules } from "../../src/model/attention.js";
import { doctorFixes } from "../../src/cli/doctor/findings.js";
import { errorFixes } from "../../src/errors/index.js";
import { hypotheses } from "../../src/cli/verify/hypotheses.js";
import { commandSummaries, loadCommand } from "../../src/cli/commands.js";
import { readArguments } from "../../src/cli/terminal/arguments.js";
import { usageOf } from "../../src/cli/terminal/help.js";
import { readOwnPackage } from "../../src/cli/terminal/own-package.js";
import { read } from "../docs/documents.js";
import { differenceKinds, rowProblemCodes } from "tillkit/statement";
import { documentOf, runCli } from "./support/run-cli.js";

const escape = "\u001b[";

describe("tillkit", () => {
  it.each([[], ["help"], ["--help"], ["-h"]])("lists every command for %j", async (...argv) => {
    const { code, stdout, stderr } = await runCli(argv);
    expect([code, stderr]).toEqual([0, ""]);
    for (const { name, summary } of commandSummaries)
      expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}`, "m"));
    for (const command of ["payments show <text>", "attention list", "statement <file>", "handlers list"])
      expect(stdout).toContain(`\n  tillkit ${command}`);
  });

  const { version, engines, peerDependencies } = JSON.parse(read("package.json"));

  it.each(["--version", "-v"])("prints its version for %s", async (option) => {
    expect(await runCli([option])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    expect(documentOf(await runCli([option, "--json"]))).toEqual({ version });
  });

  it("takes --json before the command as an option of the command", async () => {
    const argv = ["sign", "-", "--secret", "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b"];
    expect(documentOf(await runCli(["--json", ...argv]))).toEqual(
      documentOf(await runCli([...argv, "--json"])),
    );
    const show = ["--json", "payments", "show", "--store", "/none.db", "--", "-x"];
    expect(documentOf(await runCli(show))).toMatchObject({ error: { code: "store_unavailable" } });
    expect(await runCli(["--json", ...argv, "--json"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--json is given twice") as string,
    });
  });

  it("reads its version and what it supports from package.json", () => {
    expect(readOwnPackage()).toMatchObject({ version, engines, peerDependencies });
  });

  it("describes itself as JSON", async () => {
    const { commands: described } = documentOf(await runCli(["help", "--json"]));
    expect(described).toEqual(commandSummaries);
    expect(documentOf(await runCli(["help", "sign", "--json"]))).toMatchObject({
      name: "sign",
      usage: "tillkit sign [options] <file>",
      operand: { name: "file" },
      options: expect.arrayContaining([expect.objectContaining({ name: "with-header" })]) as unknown,
    });
    for (const [name, usage] of [
      ["payments", "find|show|refund|adopt|list|export> [text]"],
      ["attention", "[list|assign|snooze|note|settle] [id]"],
    ])
      expect(documentOf(await runCli(["help", name!, "--json"])).usage).toContain(usage);
    expect(documentOf(await runCli(["help", "errors", "secret_missing", "--json"]))).toEqual({
      code: "secret_missing",
      fix: errorFixes.secret_missing,
      text: expect.stringMatching(/^secret_missing\n\n/) as string,
    });
    expect(documentOf(await runCli(["help", "errors", "--json"]))).toEqual({ errors: errorFixes });
  });

  it("names the command that was meant, in an error with a code, and ends with 2", async () => {
    const { code, stdout, stderr } = await runCli(["verfiy"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toBe(
      'error command_unknown: tillkit has no command "verfiy". Did you mean verify?\n' +
        `  fix: ${errorFixes.command_unknown}\n  more: tillkit help errors command_unknown\n`,
    );
    expect((await runCli(["help", "sing"])).stderr).toContain("Did you mean sign?");
    expect((await runCli(["--versoin"])).stderr).toContain("command_option_unknown");
    expect((await runCli(["launch-rocket"])).stderr).not.toContain("Did you mean");
    expect((await runCli(["constructor"])).stderr).toContain('command_unknown: tillkit has no command "con');
  });

  const ofStatements = [...differenceKinds, ...rowProblemCodes, "bad_row", "at_edge", "accepted_here"];
  const findings = [...Object.keys(hypotheses), ...Object.keys(doctorFixes), ...attentionRules];
  it.each([...new Set([...ofStatements, ...findings])])(
    "says what %s means, which a command prints",
    async (code) => {
      const { code: exit, stdout } = await runCli(["help", "errors", code]);
      expect([exit, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${code}\n\n[^]{10}`))]);
      // A link has the path of the folder of the documents.
      expect(stdout).not.toMatch(/\]\([\w-]+\.md/);
    },
  );

  it("prints errors as JSON too, and the text for people on standard error", async () => {
    const ran = await runCli(["verfiy", "--json"]);
    expect(ran.code).toBe(2);
    expect(documentOf(ran)).toEqual({
      error: { code: "command_unknown", message: expect.any(String), fix: expect.any(String) },
    });
    expect(ran.stderr).toContain("command_unknown");
    const several = await runCli(["sandbox", "--port", "70000", "--secret", "real", "--json"]);
    expect(several.code).toBe(2);
    expect(documentOf(several).error.problems).toMatchObject([
      { code: "option_invalid", option: "signature.secret", message: expect.any(String) },
      { code: "option_invalid", option: "port" },
    ]);
  });
});

describe.each(commandSummaries)("tillkit $name", ({ name }) => {
  it("has help with its options, examples and exit codes, by either way to ask for it", async () => {
    const command = await loadCommand(name);
    const { options, examples, exitCodes, description, operand, object } = command;
    const { code, stdout } = await runCli(["help", name]);
    expect(code).toBe(0);
    expect(await runCli([name, "--help"])).toEqual({ code, stdout, stderr: "" });
    for (const option of [...options.map((one) => one.name), "json", "help"])
      expect(stdout).toContain(`--${option}`);
    expect(stdout).toContain(`\n  ${usageOf(command)}\n`);
    for (const argument of [operand, object].filter((one) => one !== undefined))
      expect(stdout).toContain(`
  <${argument.name}>`);
    for (const text of description) expect(stdout.replaceAll("\n", " ")).toContain(text);
    expect(stdout).toContain("\n  -h, --help ");
    expect(examples.length).toBeGreaterThan(1);
    for (const example of examples) expect(stdout).toContain(example.command);
    for (const [exit, meaning] of Object.entries(exitCodes)) {
      const oneLine = stdout.replaceAll(/\s+/g, " ");
      expect(oneLine).toContain(`${exit} ${meaning}`);
    }
  });

  it("has examples that it understands", async () => {
    const command = await loadCommand(name);
    const simple = command.examples.filter((example) => !/[$"|>]/.test(example.command));
    expect(simple.length).toBeGreaterThan(1);
    for (const example of simple) {
      const [tool, own, ...argv] = example.command.split(" ");
      expect([tool, own]).toEqual(["tillkit", name]);
      // Parsed, and not run: something may answer at the address of an example.
      expect(readArguments(command, argv)).toHaveProperty("operand");
    }
  });

  it("refuses an option that is empty or given twice, with one error as JSON", async () => {
    const { options } = await loadCommand(name);
    for (const { name: option, value, choices, repeated, summary } of options) {
      const given = value === undefined ? `--${option}` : `--${option}=${choices?.[0] ?? "1"}`;
      const mayBeEmpty = value === undefined || summary.includes('""');
      for (const argv of [
        ...(repeated || option === "help" ? [] : [[given, given]]),
        ...(mayBeEmpty ? [] : [[`--${option}=`], [`--${option}= `]]),
      ]) {
        const ran = await runCli([name, ...argv, "--json"]);
        const { error } = documentOf(ran);
        expect([ran.code, error.code, error.message]).toEqual([
          2,
          "command_option_invalid",
          expect.stringMatching(/ is (given twice|empty)/),
        ]);
      }
    }
  });

  it("names the option that was meant, and ends with 2", async () => {
    const wrong = await runCli([name, "--jsno"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain(`error command_option_unknown: tillkit ${name} has no option --jsno.`);
    expect(wrong.stderr).toContain("Did you mean --json?");
  });
});

describe("arguments", () => {
  it.each([
    [["init", "", "--dry-run"], "command_operand_invalid: <folder> is empty; give a value, or leave it out."],
    [["backup", "  "], "command_operand_invalid: <file> is empty"],
    [["handlers", "pause", ""], "command_operand_invalid: <handler> is empty"],
    [["sign", "--header", " ", "f"], "command_option_invalid: --header is empty"],
    [["sign", "--secret"], "command_option_invalid: --secret needs a value: --secret <text>."],
    [["sign", "--secret", "--json", "f"], "command_option_invalid: --secret needs a value"],
    [["sign", "--json=yes", "f"], "command_option_invalid: --json is a switch, and takes no value."],
    [
      ["sign", "--algorithm", "a", "--algorithm", "b", "f"],
      "command_option_invalid: --algorithm is given twice.",
    ],
    [["sign", "--scheme", "hmak", "f"], 'hmac, fields, public-key, and not "hmak". Did you mean hmac?'],
    [["sign"], "command_operand_invalid: tillkit sign needs <file>"],
    [["sign", "a", "b"], 'command_operand_invalid: tillkit sign takes one <file>, but you gave "a", "b".'],
    [["sign", "-x", "f"], "command_option_unknown: tillkit sign has no option -x."],
    [["sign", "-x", "f"], '\n  fix: See "tillkit help sign" for the options of this command.\n'],
    [["payments", "show", "a", "b"], 'but you gave "show", "a", "b". Put a text with spaces in quotes.'],
  ])("%j are wrong", async (argv, message) => {
    const { code, stderr } = await runCli(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("lose the spaces around them, but a secret and a signature keep them", async () => {
    const command = await loadCommand("verify");
    const argv = [
      " body.json ",
      "--header",
      " X-Sig ",
      "--scheme=hmac ",
      "--secret",
      " s ",
      "--signature= ab",
    ];
    const args = readArguments(command, argv);
    const options = ["header", "scheme", "secret", "signature"].map((name) => args.get(name));
    expect([args.operand, ...options]).toEqual(["body.json", "X-Sig", "hmac", " s ", " ab"]);
  });

  it("may have a value with a hyphen after an equals sign, and a file after two hyphens", async () => {
    const { code, stderr } = await runCli([
      "sign",
      "--secret=-a-secret-that-begins-with-a-hyphen",
      "--",
      "--gone",
    ]);
    expect(code).toBe(3);
    expect(stderr).toContain("file_unreadable: The file --gone cannot be read: ENOENT: no such file");
  });

  it("is no option after two hyphens, not even --json", async () => {
    const { code, stdout, stderr } = await runCli([
      "sign",
      "--secret",
      "a-secret-of-this-test",
      "--",
      "--json",
    ]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("The file --json cannot be read");
  });
});

describe("colours", () => {
  const coloured = async (options: Parameters<typeof runCli>[1], argv = ["help", "sign"]) =>
    (await runCli(argv, options)).stdout.includes(escape);

  it("are for a terminal only, and can be switched off", async () => {
    expect(await coloured({ terminal: true })).toBe(true);
    expect(await coloured({ terminal: false })).toBe(false);
    expect(await coloured({ terminal: true, env: { NO_COLOR: "1" } })).toBe(false);
    expect(await coloured({ terminal: true, env: { TERM: "dumb" } })).toBe(false);
    expect(await coloured({ terminal: true }, ["help", "sign", "--json"])).toBe(false);
  });
});
