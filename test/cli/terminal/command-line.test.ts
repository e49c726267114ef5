import { loadCommand } from "../../../src/cli/commands.js";
import { readArguments } from "../../../src/cli/terminal/arguments.js";
import { commandLine, stepLines } from "../../../src/cli/terminal/command-line.js";
import { type Arguments } from "../../../src/cli/terminal/command.js";

const given = (over: Record<string, string> = {}): Arguments => ({
  operand: undefined,
  object: undefined,
  has: (name) => name in over,
  get: (name) => over[name],
  all: (name) => (over[name] === undefined ? [] : [over[name]]),
});

describe("a command that people copy", () => {
  it("names its operand, its options and the database of this call, in quotes where the shell needs them", () => {
    const parts = ["payments", "refund", "c-1", "--reason", "it's back", "--by", "<name>"];
    expect(commandLine(parts, given({ store: "my shop.db" }))).toBe(
      "tillkit payments refund c-1 --reason 'it'\\''s back' --by <name> --store 'my shop.db'",
    );
    expect(commandLine(["attention", "list"], given())).toBe("tillkit attention list");
    expect(commandLine(["payments", "show", "<an id>"], given())).toBe("tillkit payments show <an id>");
  });

  it("names each file of variables of this call, in its order", () => {
    const args = { ...given({ "table-prefix": "pay_" }), all: () => ["shop.env", "more.env"] };
    const options = "--table-prefix pay_ --env-file shop.env --env-file more.env";
    expect(commandLine(["attention", "list"], args)).toBe(`tillkit attention list ${options}`);
    expect(stepLines("tillkit payments show -- -x", args)).toEqual([
      `  tillkit payments show ${options} -- -x`,
    ]);
  });

  it.each(["postgres://shop:s3cret@127.0.0.1/shop", "mysql://127.0.0.1/shop?user=shop&password=s3cret"])(
    "does not name a database with its password: %s",
    (store) => expect(commandLine(["attention", "list"], given({ store }))).toBe("tillkit attention list"),
  );

  it.each<[string[], Record<string, string>]>([
    [["payments", "show", "-x"], {}],
    [["payments", "show", "-x"], { store: "-s.db" }],
    [["handlers", "resume", "-x", "--by", "-b"], { "env-file": ".env" }],
    [["resolve", "accept", "--client-id", "-x", "--service-id", "-7"], { store: "shop.db" }],
  ])("can be called where an id begins with a hyphen: %j %j", async (parts, database) => {
    const [, name = "", ...argv] = commandLine(parts, given(database)).split(" ");
    const args = readArguments(await loadCommand(name), argv);
    expect([args.operand, args.object ?? args.get("client-id")]).toEqual([parts[1], "-x"]);
    expect(args.get("store")).toBe(database["store"]);
  });
});
