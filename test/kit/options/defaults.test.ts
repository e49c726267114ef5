import { readFileSync } from "node:fs";
import path from "node:path";
import { MemoryStore } from "tillkit";
import { optionRows } from "../../../src/kit/options/option-table.js";
import { resolveOptions } from "../../../src/kit/options/resolve-options.js";
import { testOptions } from "../../support/kit.js";

const store = Object.assign(new MemoryStore(), { spoolDirectory: "shop.db-spool" });
const given = { ...testOptions({ store, lookup: true }), webhook: {}, dispatch: {} };
const resolved: object = resolveOptions(given);

/** Returns the value at a path such as `webhook.failures.burst`. */
const at = (option: string): unknown =>
  option
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], resolved);

const numbers: [string, number][] = [
  ["service.timeoutMs", 10_000],
  ["webhook.limitBytes", 65_536],
  ["webhook.recordTimeoutMs", 3000],
  ["webhook.bodyTimeoutMs", 10_000],
  ["webhook.failures.perMinute", 60],
  ["webhook.failures.burst", 100],
  ["spool.maxBytes", 67_108_864],
  ["health.spoolingDownAfterMs", 300_000],
  ["dispatch.concurrency", 8],
  ["dispatch.pollMs", 1000],
  ["dispatch.leaseMs", 5000],
  ["dispatch.handlerTimeoutMs", 30_000],
  ["dispatch.maxLostLeases", 10],
  ["dispatch.maxFailures", 12],
  ["dispatch.firstDelayMs", 1000],
  ["dispatch.maxDelayMs", 3_600_000],
  ["reuseForMs", 900_000],
  ["overdueMs", 86_400_000],
  ["sweepMs", 60_000],
  ["unmatchedAfterMs", 300_000],
  ["attentionReminderMs", 86_400_000],
  ["lookup.afterMs", 120_000],
  ["lookup.maxDelayMs", 21_600_000],
  ["lookup.giveUpAfterMs", 259_200_000],
  ["lookup.perSecond", 5],
  ["lookup.afterReturnMs", 3000],
  ["lookup.timeoutMs", 10_000],
];

it.each(numbers)("the default of %s is %d", (option, value) => {
  expect(at(option)).toBe(value);
});

it("the table of this test has every default that is a number", () => {
  const all = optionRows.filter(([, row]) => typeof row.default === "number");
  expect(numbers.map(([option]) => option).toSorted()).toEqual(all.map(([option]) => option).toSorted());
});

it("the pages name the same defaults", () => {
  const pages = ["docs/options.md", "docs/reconciliation.md"].map((page) =>
    readFileSync(path.join(__dirname, "../../..", page), "utf8"),
  );
  const rows = [...pages.join("\n").matchAll(/^\| `([\w.]+)` \| (\d+) \|/gm)];
  expect(rows.map(([, option, value]) => [option, Number(value)])).toEqual(
    rows.map(([, option]) => [option, at(option!)]),
  );
  // Those of `webhook.failures` stand in one row.
  expect(rows.length).toBe(numbers.length - 2);
});

it("the default paths are those of the page on the options", () => {
  expect(at("paths")).toEqual({ webhook: "/webhook", success: "/success", cancel: "/cancel" });
});
