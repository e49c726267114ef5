import { eventTypes } from "tillkit";
import { membersOf, read } from "./documents.js";

const page = read("docs/reference.md");
const eventsPage = read("docs/events.md");
const rowsOf = (section: string, text = page) =>
  [
    ...text
      .split(`## ${section}\n`)[1]!
      .split("\n## ")[0]!
      .matchAll(/^\| (`.+?) \| (.*?) \|/gm),
  ].map(([, first, second]) => ({ names: namesIn(first!), second: second! }));
const namesIn = (cell: string) => [...cell.matchAll(/`([\w.]+)[^`]*`/g)].map(([, name]) => name!);

describe("the reference", () => {
  it("has a row for every method of the kit, and for no other", () => {
    const names = rowsOf("The methods of `payments`").flatMap((row) => row.names);
    const properties = ["store", "options", "logger"];
    const members = membersOf("src/kit/payments.ts", "Payments").filter((name) => !properties.includes(name));
    expect(names.toSorted()).toEqual([...new Set(members)].toSorted());
    for (const name of properties) expect(page).toContain(`\`payments.${name}\``);
  });

  it("has a row for every field of a payment", () => {
    const names = rowsOf("A payment").flatMap((row) => row.names);
    expect(names.toSorted()).toEqual(membersOf("src/model/payment.ts", "Payment").toSorted());
  });

  it("has a row for every event, and explains every field that it names", () => {
    const rows = rowsOf("The fields of events", eventsPage);
    const events = rows.filter(({ names }) => (eventTypes as readonly string[]).includes(names[0]!));
    expect(events.map(({ names }) => names[0])).toEqual([...eventTypes]);
    const explained = new Set(rows.slice(events.length).flatMap((row) => row.names));
    const named = new Set(events.flatMap(({ second }) => namesIn(second)));
    // Those of `payment.unmatched` and `payment.resolved` that a payment has are explained there.
    expect([...named].filter((name) => !explained.has(name) && name !== "clientId")).toEqual([]);
  });

  it("names the fields that the types of the events have", () => {
    const types = read("src/model/event-map.ts");
    const reported = membersOf("src/model/event-map.ts", "Reported");
    for (const { names, second } of rowsOf("The fields of events", eventsPage).slice(0, eventTypes.length)) {
      const [, type] = new RegExp(`^ {2}"${names[0]!}": (.*?\\});?$`, "ms").exec(types)!;
      const own = [...type!.replaceAll(/\/\*\*.*?\*\//gs, "").matchAll(/(\w+)\??: /g)].map(
        ([, name]) => name!,
      );
      const all = type!.startsWith("Reported") ? [...reported, ...own] : own;
      expect([names[0], namesIn(second).toSorted()]).toEqual([names[0], all.toSorted()]);
    }
  });
});
