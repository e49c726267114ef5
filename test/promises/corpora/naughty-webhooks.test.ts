import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Outcome } from "tillkit";
import { withCorpus } from "../../webhook/message/corpora.js";
import { completedBody } from "../../support/webhooks.js";
import { closeWorld, runConcurrently, isPrintable, openWorld, type SchemeName, type Shop } from "./world.js";

/** The result of a message with a string in one field: an outcome, or a refusal with this status. */
type End = Outcome | 400;
type Rule = (text: string) => End;

// These rules follow the interface document and DESIGN §8. They do not use the kit's own rules.
const printable = (text: string, min: number, max: number) =>
  text.length >= min && text.length <= max && isPrintable(text);
const keptIf = (admissible: boolean, outcome: Outcome): Outcome => (admissible ? outcome : "inadmissible");
const never: Rule = () => "inadmissible";
const always: Rule = () => "applied";

/** The rule of each field, where the signature covers the body. */
const bodyRules: Readonly<Record<string, Rule>> = {
  topic: (text) => keptIf(printable(text, 1, 128), "applied"),
  type: (text) => keptIf(printable(text, 1, 128), "unrecognised"),
  timestamp: always,
  id: (text) => keptIf(printable(text, 1, 128), "mismatch"),
  // The topic is completed, and no string of the corpus is.
  status: (text) => keptIf(/^[A-Za-z0-9_.-]{1,64}$/.test(text), "mismatch"),
  captured: never,
  value: (text) => keptIf(/^(0|[1-9][0-9]{0,15})(\.0{1,4})?$/.test(text), "mismatch"),
  currency: (text) => keptIf(/^[A-Za-z]{1,16}$/.test(text), "mismatch"),
  submittedAt: never,
  clientId: (text) => keptIf(/^[A-Za-z0-9._:-]{1,64}$/.test(text), "unmatched"),
  providerId: always,
  source: always,
  extra: always,
};

/** The rules where fields are signed: signed fields must fit the joined string, and the others decide nothing. */
const fieldRules: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    Object.entries(bodyRules).map(([field, rule]): [string, Rule] => [
      field,
      (text) => (printable(text, 1, 256) && !text.includes(",") ? rule(text) : 400),
    ]),
  ),
  // Without a signed topic, an unknown status contradicts nothing. It raises an event, and completes nothing.
  status: (text) =>
    !printable(text, 1, 256) || text.includes(",")
      ? 400
      : keptIf(/^[A-Za-z0-9_.-]{1,64}$/.test(text), "applied"),
  ...Object.fromEntries(
    ["topic", "type", "timestamp", "captured", "providerId", "source", "extra"].map((field) => [
      field,
      always,
    ]),
  ),
};

function bodyWith(field: string, text: string, clientId: string): Buffer {
  const data: Record<string, unknown> = { clientId, id: `s-${clientId}` };
  const top: Record<string, unknown> = {};
  if (["topic", "type", "timestamp"].includes(field)) top[field] = text;
  else if (field === "value") data["total"] = { value: text, currency: "KMF" };
  else if (field === "currency") data["total"] = { value: "1475", currency: text };
  else data[field] = text;
  return Buffer.from(JSON.stringify(completedBody(data, top)));
}

describe("strings that break software, in every field of a signed webhook", () => {
  withCorpus("naughty-strings", (folder) => {
    const strings: string[] = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8"));
    const cases = Object.keys(bodyRules).flatMap((field) =>
      strings.map((text, index) => {
        const clientId = `c-${field}-${index}`;
        return { field, text, clientId, body: bodyWith(field, text, clientId) };
      }),
    );

    let shops: Record<SchemeName, Shop>;
    beforeAll(async () => {
      shops = await openWorld();
    });
    afterAll(closeWorld);

    it.each([
      ["hmac", bodyRules],
      ["fields", fieldRules],
    ] as const)(
      "have the result of their field's rule, and change nothing else (%s)",
      async (name, rules) => {
        const shop = shops[name];
        await shop.seed(
          cases.map(({ clientId }) => ({ clientId, serviceId: `s-${clientId}`, reference: clientId })),
        );
        const answers = await runConcurrently(cases, ({ body }) => shop.post(body));
        const rows = new Map(shop.store.recorded.map((row) => [row.rawBody.toString("latin1"), row.outcome]));

        const ends = cases.map(({ field, text, body }, index) => {
          const { status } = answers[index]!;
          const end = status === 200 ? rows.get(body.toString("latin1")) : status;
          return [field, text, end, status === 200 || !rows.has(body.toString("latin1"))];
        });
        expect(ends).toEqual(cases.map(({ field, text }) => [field, text, rules[field]!(text), true]));
      },
    );

    it.each([
      ["hmac", bodyRules],
      ["fields", fieldRules],
    ] as const)(
      "reach handlers unchanged, and complete only the expected payments (%s)",
      async (name, rules) => {
        const { handled, whenHandled, store } = shops[name];
        await whenHandled(store.events);
        const completed = new Map(
          handled.flatMap((event) =>
            event.type === "payment.completed" ? [[event.payment.clientId, event] as const] : [],
          ),
        );
        const completing = cases.filter(
          ({ field, text }) => rules[field]!(text) === "applied" && field !== "status",
        );
        expect([...completed.keys()].toSorted()).toEqual(
          completing.map(({ clientId }) => clientId).toSorted(),
        );
        for (const { field, text, clientId } of completing) {
          const { verified, untrusted } = completed.get(clientId)!;
          const seen = { ...verified, ...untrusted, extra: text } as Record<string, unknown>;
          expect([field, seen[field]]).toEqual([field, text]);
        }
        for (const { clientId } of cases)
          expect([clientId, (await store.find(clientId))?.state]).toEqual([
            clientId,
            completed.has(clientId) ? "completed" : "pending",
          ]);
      },
    );

    it("are many", () => {
      expect(strings.length).toBeGreaterThan(400);
    });
  });
});
