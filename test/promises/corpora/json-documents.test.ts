import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withCorpus } from "../../webhook/message/corpora.js";
import { completedBody } from "../../support/webhooks.js";
import { closeWorld, runConcurrently, openWorld, schemeNames, type SchemeName, type Shop } from "./world.js";

/** The placeholder in a message that is replaced by a document. */
const hole = '"@"';
const fields = ["topic", "timestamp", "type", "data"];
const dataFields = ["id", "status", "captured", "total", "submittedAt", "clientId", "providerId", "source"];
const places: Readonly<Record<string, (clientId: string) => string>> = {
  bare: () => hole,
  "an extra field": (clientId) => JSON.stringify(completedBody({ clientId, id: clientId }, { extra: "@" })),
  "an extra field of the payment": (clientId) =>
    JSON.stringify(completedBody({ clientId, id: clientId, extra: "@" })),
  ...Object.fromEntries(
    fields.map((field) => [
      field,
      (clientId: string) => JSON.stringify({ ...completedBody({ clientId, id: clientId }), [field]: "@" }),
    ]),
  ),
  ...Object.fromEntries(
    dataFields.map((field) => [
      `data.${field}`,
      (clientId: string) => JSON.stringify(completedBody({ clientId, id: clientId, [field]: "@" })),
    ]),
  ),
  "data.total.value": (clientId) =>
    JSON.stringify(completedBody({ clientId, id: clientId, total: { value: "@", currency: "KMF" } })),
  "data.total.currency": (clientId) =>
    JSON.stringify(completedBody({ clientId, id: clientId, total: { value: "1475", currency: "@" } })),
};

interface Case {
  file: string;
  place: string;
  clientId: string;
  body: Buffer;
}

/** Returns each document at each place, for a payment of its own. */
function casesOf(documents: readonly [string, Buffer][]): Case[] {
  return documents.flatMap(([file, document], index) =>
    Object.entries(places).map(([place, template], at): Case => {
      const clientId = `c-${index}-${at}`;
      const [before = "", after = ""] = template(clientId).split(hole);
      return {
        file,
        place,
        clientId,
        body: Buffer.concat([Buffer.from(before), document, Buffer.from(after)]),
      };
    }),
  );
}

/** Documents that two parsers read differently: one takes the first of two equal keys, another the last. */
const ambiguous = [
  "object_same_key_different_values.json",
  "object_same_key_same_value.json",
  "object_same_key_unclear_values.json",
  "y_object_duplicated_key.json",
  "y_object_duplicated_key_and_value.json",
];

/** Fields that decide about a payment. A document in one of them must not complete a payment. */
const deciding = [
  "data",
  "data.id",
  "data.status",
  "data.total",
  "data.clientId",
  "data.total.value",
  "data.total.currency",
];

const mustBeRefused = ({ file }: Case) => file.startsWith("n_") || ambiguous.includes(file);
const isExtra = ({ place }: Case) => place.startsWith("an extra field");

describe("JSON documents that parsers read differently, as signed webhooks and at every place of one", () => {
  withCorpus("json-test-suite", (folder) => {
    const documents = ["test_parsing", "test_transform"].flatMap((part) =>
      readdirSync(join(folder, part)).map((file): [string, Buffer] => [
        file,
        readFileSync(join(folder, part, file)),
      ]),
    );
    const cases = casesOf(documents);
    let shops: Record<SchemeName, Shop>;
    const statuses = new Map<SchemeName, number[]>();

    beforeAll(async () => {
      shops = await openWorld();
      for (const name of schemeNames) {
        const { seed, post } = shops[name];
        await seed(
          cases.map(({ clientId }) => ({ clientId, serviceId: clientId, reference: `order-${clientId}` })),
        );
        const answers = await runConcurrently(cases, ({ body }) => post(body));
        statuses.set(
          name,
          answers.map(({ status }) => status),
        );
      }
    });
    afterAll(closeWorld);

    /** Returns each case with its answer and the outcome of its row. */
    function results(name: SchemeName) {
      const outcomes = new Map(
        shops[name].store.recorded.map(({ rawBody, outcome }) => [rawBody.toString("latin1"), outcome]),
      );
      return cases.map((one, index) => ({
        ...one,
        status: statuses.get(name)![index]!,
        outcome: outcomes.get(one.body.toString("latin1")),
      }));
    }

    /** Returns readable names of wrong cases. */
    const named = (wrong: ReturnType<typeof results>) =>
      wrong.map(({ file, place, status, outcome }) => `${file} as ${place}: ${status} ${outcome}`);

    it("are many, and are at their places", () => {
      expect(documents.length).toBeGreaterThan(300);
      expect(cases.length).toBe(documents.length * 17);
      // The message around an invalid document must not make it valid.
      const repaired = cases.filter(({ file, body }) => file.startsWith("n_") && isJson(body));
      expect(repaired.map(({ file, place }) => `${file} as ${place}`)).toEqual([]);
    });

    it("are kept as inadmissible and answered 200 where the body is signed and two parsers would differ", () => {
      const wrong = results("hmac").filter(
        (one) => mustBeRefused(one) && !(one.status === 200 && one.outcome === "inadmissible"),
      );
      expect(named(wrong)).toEqual([]);
    });

    it("are refused with 400 and no row, or kept as inadmissible, where fields are signed", () => {
      const wrong = results("fields").filter((one) => {
        const refused = one.status === 400 && one.outcome === undefined;
        const kept = one.status === 200 && one.outcome === "inadmissible";
        return mustBeRefused(one) && !refused && !kept;
      });
      expect(named(wrong)).toEqual([]);
    });

    it.each(schemeNames)("complete the payment where they are valid and in an extra field (%s)", (name) => {
      // No field that the kit reads is a number, so a number that a double cannot hold changes nothing.
      const valid = results(name).filter(
        (one) => isExtra(one) && /^(y_|number_)/.test(one.file) && !mustBeRefused(one),
      );
      expect(valid.length).toBeGreaterThan(160);
      expect(named(valid.filter(({ status, outcome }) => status !== 200 || outcome !== "applied"))).toEqual(
        [],
      );
    });

    it.each(schemeNames)("never cause a server error, and are never recorded without a 200 (%s)", (name) => {
      const allowed = name === "hmac" ? [200] : [200, 400];
      const wrong = results(name).filter(
        ({ status, outcome }) => !allowed.includes(status) || (status === 200) !== (outcome !== undefined),
      );
      expect(named(wrong)).toEqual([]);
    });

    it.each(schemeNames)(
      "otherwise reach no handler of completions and change no payment (%s)",
      async (name) => {
        const { store, handled, whenHandled } = shops[name];
        const applied = results(name).filter(({ outcome }) => outcome === "applied");
        expect(named(applied.filter(mustBeRefused))).toEqual([]);
        // An unknown status raises an event, and completes nothing.
        const completing = applied.filter(({ place }) => place !== "data.status");
        expect(named(completing.filter(({ place }) => deciding.includes(place)))).toEqual([]);

        const changed = new Set(applied.map(({ clientId }) => clientId));
        const completed = new Set(completing.map(({ clientId }) => clientId));
        for (const { clientId } of cases) {
          const { state, updatedAt } = (await store.find(clientId))!;
          const untouched = updatedAt === "2026-11-20T09:59:00.000Z";
          expect([clientId, !untouched, state === "completed"]).toEqual([
            clientId,
            changed.has(clientId),
            completed.has(clientId),
          ]);
        }

        await whenHandled(store.events);
        const toldOf = handled.flatMap((event) =>
          event.type === "payment.completed" ? [event.payment.clientId] : [],
        );
        expect(toldOf.toSorted()).toEqual([...completed].toSorted());
      },
    );
  });
});

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
    return true;
  } catch {
    return false;
  }
}
