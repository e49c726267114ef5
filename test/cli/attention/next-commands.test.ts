import { loadCommand } from "../../../src/cli/commands.js";
import { readArguments } from "../../../src/cli/terminal/arguments.js";
import { attentionRules } from "../../../src/model/attention.js";
import { type Fact, ruleTable } from "../../../src/operations/attention/rules.js";
import { pendingPayment } from "../../support/webhooks.js";

const payment = pendingPayment({ clientId: "c-1" });
const facts = {
  claim: { payment },
  payment: { payment },
  webhook: { webhook: { receiptId: "r-1", clientId: "c-1" } as NonNullable<Fact["webhook"]> },
  dispatch: { dispatch: { handler: "printer", eventId: "e-1" } as NonNullable<Fact["dispatch"]> },
  handler: {},
  process: {},
};

describe("the next step of what needs a person", () => {
  it.each(attentionRules.filter((rule) => ruleTable[rule].of !== "process"))(
    "has only commands that can be called, with a person: %s",
    async (rule) => {
      const since = "2026-11-20T10:00:00.000Z";
      const fact: Fact = { rule, subject: "c-1", since, position: ["", ""], ...facts[ruleTable[rule].of] };
      const lines = ruleTable[rule].next(fact).split("\n");
      const commands = lines.flatMap((line) => /^tillkit (.+)$/.exec(line)?.[1] ?? []);
      expect(commands.length).toBeGreaterThan(0);
      expect(lines.filter((line) => !line.startsWith("tillkit ")).join(" ")).not.toContain("tillkit ");
      for (const line of commands) {
        // People copy whole lines.
        expect(line).not.toMatch(/[.:]$/);
        const [name = "", ...argv] = line.split(" ");
        const args = readArguments(await loadCommand(name), argv);
        expect(args.get("by")).toBe("<name>");
        expect([line, args.has("reason")]).toEqual([line, !line.startsWith("handlers resume")]);
        expect(line).not.toContain("undefined");
      }
    },
  );

  it.each(["paid_twice", "unmatched", "dead_dispatch", "handler_paused"] as const)(
    "has commands that can be called also for an id that begins with a hyphen: %s",
    async (rule) => {
      const id = "-x";
      const fact: Fact = {
        rule,
        subject: id,
        since: "2026-11-20T10:00:00.000Z",
        position: ["", ""],
        ...(rule === "paid_twice" && { payment: pendingPayment({ clientId: id }) }),
        ...(rule === "unmatched" && { webhook: { ...facts.webhook.webhook, clientId: id } }),
        ...(rule === "dead_dispatch" && { dispatch: { ...facts.dispatch.dispatch, handler: id } }),
      };
      const [, line = ""] = /^tillkit (.+)$/m.exec(ruleTable[rule].next(fact)) ?? [];
      const [name = "", ...argv] = line.split(" ");
      const args = readArguments(await loadCommand(name), argv);
      expect([args.object ?? args.get("client-id"), args.get("by")]).toEqual([id, "<name>"]);
    },
  );
});
