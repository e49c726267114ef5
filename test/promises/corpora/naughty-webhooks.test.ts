import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Outcome } from "tillkit";
import { withCorpus } from "../../webhook/message/corpora.js";
import { completedBody } from "../../support/webhooks.js";
import { closeWorld, inTurns, isPrintable, openWorld, type SchemeName, type Shop } from "./world.js";

/** What may become of a message with a string in one field: an outcome, or a refusal with this status. */
type End = Outcome | 400;
type Judge = (text: string) => End;

// Written apart from the kit's own rules, after the tables of the interface document and DESIGN §8.
const printable = (text: string, least: number, most: number) =>
  text.length >= least && text.length <= most && isPrintable(text);
const keptIf = (admissible: boolean, outcome: Outcome): Outcome => (admissible ? outcome : "inadmissible");
const never: Judge = () => "inadmissible";
const always: Judge = () => "applied";

/** Where every byte is signed, each field is judged. */
const whole: Readonly<Record<string, Judge>> = {
  topic: (text) => keptIf(printable(text, 1, 128), "applied"),
  type: (text) => keptIf(printable(text, 1, 128), "unrecognised"),
  timestamp: never,
  id: (text) => keptIf(printable(text, 1, 128), "mismatch"),
  // The topic says completed, and no string of the corpus does.
  status: (text) => keptIf(/^[A-Za-z0-9_.-]{1,64}$/.test(text), "mismatch"),
  captured: never,
  value: (text) => keptIf(/^(0|[1-9][0-9]{0,15})(\.0{1,4})?$/.test(text), "mismatch"),
  currency: (text) => keptIf(/^[A-Z]{3}$/.test(text), "mismatch"),
  submittedAt: never,
  clientId: (text) => keptIf(/^[A-Za-z0-9._:-]{1,64}$/.test(text), "unmatched"),
  providerId: (text) => keptIf(printable(text, 0, 256), "applied"),
  source: (text) => keptIf(printable(text, 0, 256), "applied"),
  extra: always,
};

/** Where fields are signed, those must fit the joined string, and the others are nobody's word. */
const joined: Readonly<Record<string, Judge>> = {
  ...Object.fromEntries(
    Object.entries(whole).map(([field, judge]): [string, Judge] => [
      field,
      (text) => (printable(text, 1, 256) && !text.includes(",") ? judge(text) : 400),
    ]),
  ),
  // Without a signed topic, an unknown status contradicts nothing: it is news, and no completion.
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
    const cases = Object.keys(whole).flatMap((field) =>
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
      ["hmac", whole],
      ["fields", joined],
    ] as const)("end as their field's rule says, and change nothing else (%s)", async (name, rules) => {
      const shop = shops[name];
      await shop.seed(
        cases.map(({ clientId }) => ({ clientId, serviceId: `s-${clientId}`, reference: clientId })),
      );
      const answers = await inTurns(cases, ({ body }) => shop.post(body));
      const rows = new Map(shop.store.recorded.map((row) => [row.rawBody.toString("latin1"), row.outcome]));

      const ends = cases.map(({ field, text, body }, index) => {
        const { status } = answers[index]!;
        const end = status === 200 ? rows.get(body.toString("latin1")) : status;
        return [field, text, end, status === 200 || !rows.has(body.toString("latin1"))];
      });
      expect(ends).toEqual(cases.map(({ field, text }) => [field, text, rules[field]!(text), true]));
    });

    it.each([
      ["hmac", whole],
      ["fields", joined],
    ] as const)("reach handlers byte by byte, and complete only what they may (%s)", async (name, rules) => {
      const { told, hasTold, store } = shops[name];
      await hasTold(store.events);
      const completed = new Map(
        told.flatMap((event) =>
          event.type === "payment.completed" ? [[event.payment.clientId, event] as const] : [],
        ),
      );
      const completing = cases.filter(
        ({ field, text }) => rules[field]!(text) === "applied" && field !== "status",
      );
      expect([...completed.keys()].toSorted()).toEqual(completing.map(({ clientId }) => clientId).toSorted());
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
    });

    it("are many", () => {
      expect(strings.length).toBeGreaterThan(400);
    });
  });
});
