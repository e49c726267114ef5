import { PassThrough } from "node:stream";
import { loadCommand } from "../../../src/cli/commands.js";
import { readArguments } from "../../../src/cli/terminal/arguments.js";
import { confirms } from "../../../src/cli/terminal/confirm.js";
import { requireDatabase } from "../../../src/cli/terminal/database.js";
import { givenPolicy } from "../../../src/cli/terminal/offline-kit.js";
import { decimalOption, requiredOptions, timeOption } from "../../../src/cli/terminal/option-values.js";
import { createOutput } from "../../../src/cli/terminal/output.js";
import { runCli } from "../support/run-cli.js";
import { text } from "node:stream/consumers";

const argumentsOf = async (command: string, ...argv: string[]) =>
  readArguments(await loadCommand(command), argv);

function contextOf(env: Record<string, string> = {}, stdin = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const output = createOutput({ stdout, stderr, env: {} }, false);
  return { context: { env, cwd: "/shop", stdin: new PassThrough().end(stdin), output }, stdout, stderr };
}

describe("the value of an option", () => {
  it.each(["secret", "signature"])("keeps its spaces only in --%s and in no other option", async (name) => {
    const given = await argumentsOf("verify", "body.json", `--${name}`, " a ", "--merchant-id", " a ");
    expect([given.get(name), given.get("merchant-id")]).toEqual([" a ", "a"]);
  });

  it.each(["--json", "--help"])("is not taken by %s, which every command has", async (name) => {
    for (const command of ["payments", "sign", "doctor"])
      await expect(argumentsOf(command, `${name}=x`, "list")).rejects.toMatchObject({
        code: "command_option_invalid",
      });
  });

  it("is a time in UTC, or at the given offset", async () => {
    const args = await argumentsOf(
      "payments",
      "list",
      "--from",
      "2024-05-01",
      "--to",
      "2024-05-01T10:00+03:00",
    );
    expect(timeOption(args, "from")).toEqual(new Date("2024-05-01T00:00:00Z"));
    expect(timeOption(args, "from", "+03:00")).toEqual(new Date("2024-04-30T21:00:00Z"));
    expect(timeOption(args, "to")).toEqual(new Date("2024-05-01T07:00:00Z"));
    expect(timeOption(args, "day")).toBeUndefined();
    const wrong = await argumentsOf("payments", "list", "--from", "May");
    expect(() => timeOption(wrong, "from")).toThrow("--from must be a UTC day or a time with an offset");
    expect(() => timeOption(wrong, "from", "+03:00")).toThrow(
      "--from must be a day or a time with an offset",
    );
  });

  it("is a decimal number, and is required where a command says so", async () => {
    const args = await argumentsOf("payments", "list", "--limit", "2.5", "--by", "Amina", "--key", "0x10");
    expect([decimalOption(args, "limit"), decimalOption(args, "amount")]).toEqual([2.5, undefined]);
    expect(() => decimalOption(args, "key")).toThrow('--key must be a number such as 10, and not "0x10".');
    expect(requiredOptions(args, ["by", "limit"])).toEqual({ by: "Amina", limit: "2.5" });
    expect(() => requiredOptions(args, ["by", "reason"])).toThrow("--reason is missing.");
    expect(() => requiredOptions(args, ["amount", "by", "reason", "day"])).toThrow(
      "--amount, --reason and --day are missing.",
    );
  });
});

describe("the policy of a command", () => {
  it.each([
    ["confirm", "TILLKIT_CONFIRM", "lookup", "none"],
    ["confirm", "TILLKIT_CONFIRM", "none", "lookup"],
    ["client-id-prefix", "TILLKIT_CLIENT_ID_PREFIX", "north-", "south-"],
  ])("has --%s before %s: %s instead of %s", async (name, variable, value, other) => {
    const field = name === "confirm" ? "confirm" : "clientIdPrefix";
    const [given, none] = [await argumentsOf("replay", `--${name}`, value), await argumentsOf("replay")];
    expect(givenPolicy(given, contextOf({ [variable]: other }).context)).toMatchObject({ [field]: value });
    expect(givenPolicy(none, contextOf({ [variable]: ` ${other} ` }).context)).toMatchObject({
      [field]: other,
    });
    expect(givenPolicy(none, contextOf({ [variable]: " " }).context)).toMatchObject({ [field]: undefined });
  });

  it("has an empty prefix if --client-id-prefix is empty, and accepts no other TILLKIT_CONFIRM", async () => {
    const args = await argumentsOf("replay", "--client-id-prefix=");
    expect(givenPolicy(args, contextOf({ TILLKIT_CLIENT_ID_PREFIX: "a" }).context).clientIdPrefix).toBe("");
    expect(() => givenPolicy(args, contextOf({ TILLKIT_CONFIRM: "yes" }).context)).toThrow(
      "TILLKIT_CONFIRM must be lookup, or left out",
    );
  });
});

describe("the database of the options", () => {
  it("is that of --store before TILLKIT_DATABASE, with the prefix of --table-prefix", async () => {
    const env = { TILLKIT_DATABASE: " other.db " };
    const given = await argumentsOf("health", "--store", "shop.db", "--table-prefix", "pay_");
    expect(requireDatabase(given, contextOf(env).context)).toMatchObject({
      label: "shop.db",
      tablePrefix: "pay_",
    });
    expect(requireDatabase(await argumentsOf("health"), contextOf(env).context)).toMatchObject({
      label: "other.db",
      tablePrefix: undefined,
    });
  });

  it.each(["", " "])("is missing if TILLKIT_DATABASE is %j", async (TILLKIT_DATABASE) => {
    const args = await argumentsOf("health");
    const { context } = contextOf({ TILLKIT_DATABASE });
    expect(() => requireDatabase(args, context)).toThrow("No database is named");
  });

  it("has a warning for a password in --store, which other users can see", async () => {
    const { context, stderr } = contextOf();
    requireDatabase(await argumentsOf("health", "--store", "postgres://a:b@127.0.0.1/shop"), context);
    stderr.end();
    expect(await text(stderr)).toContain("warning secret_on_command_line");
  });
});

describe("a question of a command", () => {
  it.each([
    [[], "y\n", true],
    [[], "YES\n", true],
    [[], "n\n", false],
    [[], "yesterday\n", false],
    [[], "no, not y\n", false],
    [[], "", false],
    [["--json"], "y\n", false],
  ])("with the options %j and the input %j has the answer %s", async (argv, stdin, answer) => {
    const args = await argumentsOf("resolve", "accept", ...argv);
    expect(await confirms("Store this decision?", args, contextOf({}, stdin).context)).toBe(answer);
  });
});

it("a question of a command is printed only on a terminal", async () => {
  const args = await argumentsOf("resolve", "accept");
  const printed = async (isTTY: boolean) => {
    const { context, stdout } = contextOf({}, "y\n");
    Object.assign(context.stdin, { isTTY });
    await confirms("Store this decision?", args, context);
    return text(stdout.end());
  };
  expect([await printed(false), await printed(true)]).toEqual(["", "Store this decision? y: yes, n: no\n"]);
});

describe("an action of a command", () => {
  it.each([
    [["look"], "needs list, assign, snooze, note or settle.\n"],
    [["setle"], "needs list, assign, snooze, note or settle. Did you mean settle?"],
    [["assign"], "tillkit attention assign needs <id>."],
    [["list", "overdue:c-1"], "tillkit attention list takes no <id>."],
    [["--by", "Amina"], "--by cannot be used with list."],
    [["settle", "overdue:c-1", "--until", "2024-05-01"], "--until cannot be used with settle."],
    [["settle", "overdue:c-1"], "No database is named"],
  ])("is checked before the database: %j", async (argv, message) => {
    const { code, stderr } = await runCli(["attention", ...argv]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
