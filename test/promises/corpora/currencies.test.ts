import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hasCode, type Outcome } from "tillkit";
import { withCorpus } from "../../webhook/message/corpora.js";
import { testKit } from "../../support/kit.js";
import { completedBody } from "../../support/webhooks.js";
import { willingService } from "../../support/willing-service.js";
import { closeWorld, runConcurrently, openWorld, schemeNames, type SchemeName, type Shop } from "./world.js";

/** One code of the corpus with its number of decimals, which is `undefined` for metals, funds and test codes. */
interface Currency {
  code: string;
  decimals: number | undefined;
}

function readCurrencies(file: string): Currency[] {
  const found = new Map<string, Currency>();
  for (const line of readFileSync(file, "utf8").trim().split(/\r?\n/).slice(1)) {
    // Only the first two columns can hold quotes and commas. These four columns cannot.
    const [code = "", , unit = "", withdrawn = ""] = line.split(",").slice(-4);
    if (code !== "" && withdrawn === "")
      found.set(code, { code, decimals: unit === "-" ? undefined : Number(unit) });
  }
  return [...found.values()];
}

/** Amounts by their number of decimals that are not zero, and some with further zeros. */
const amounts = [
  { value: "1475", needs: 0 },
  { value: "1", needs: 0 },
  { value: "9999999999999999", needs: 0 },
  { value: "1475.0000", needs: 0 },
  { value: "0.1", needs: 1 },
  { value: "1475.50", needs: 1 },
  { value: "0.01", needs: 2 },
  { value: "9999999999999999.99", needs: 2 },
  { value: "1475.1000", needs: 1 },
  { value: "0.001", needs: 3 },
  { value: "1475.125", needs: 3 },
  { value: "0.0001", needs: 4 },
  { value: "9999999999999999.9999", needs: 4 },
];

describe("every active currency, with allowed decimals and with more", () => {
  withCorpus("iso4217", (folder) => {
    const currencies = readCurrencies(join(folder, "codes-all.csv"));
    const cases = currencies.flatMap(({ code, decimals }) =>
      amounts.map(({ value, needs }) => ({
        clientId: `c-${code}-${value}`,
        total: { value, currency: code },
        fits: needs <= (decimals ?? 4),
      })),
    );

    let shops: Record<SchemeName, Shop>;
    beforeAll(async () => {
      shops = await openWorld();
    });
    afterAll(closeWorld);

    it("has amounts that fit and amounts that do not", () => {
      expect(currencies.length).toBeGreaterThan(150);
      expect(currencies).toEqual(
        expect.arrayContaining([
          { code: "KMF", decimals: 0 },
          { code: "EUR", decimals: 2 },
        ]),
      );
      expect(cases.filter(({ fits }) => !fits).length).toBeGreaterThan(300);
    });

    it("is sent unchanged, or refused before anything is sent", async () => {
      const { sent, options } = willingService();
      const payments = testKit({ service: options });
      for (const { clientId, total, fits } of cases) {
        const error: unknown = await payments.create({ reference: clientId, clientId, total }).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect([clientId, error === undefined, hasCode(error, "amount_invalid")]).toEqual([
          clientId,
          fits,
          !fits,
        ]);
      }
      expect(sent.map(({ purchase }) => purchase)).toEqual(
        cases.filter(({ fits }) => fits).map(({ total }) => ({ total })),
      );
    });

    it.each(schemeNames)(
      "completes a payment in a webhook, or is kept as inadmissible (%s)",
      async (name) => {
        const { seed, post, store, rowOf } = shops[name];
        await seed(
          cases.map(({ clientId, total, fits }) => ({
            clientId,
            reference: clientId,
            serviceId: clientId,
            // No payment of such an amount can exist. This one must only stay unchanged.
            total: fits ? total : { value: "1", currency: total.currency },
          })),
        );
        const bodies = cases.map(({ clientId, total }) =>
          Buffer.from(JSON.stringify(completedBody({ clientId, id: clientId, total }))),
        );
        const answers = await runConcurrently(bodies, (body) => post(body));
        const ends = await runConcurrently(cases, async ({ clientId }, index) => [
          clientId,
          answers[index]!.status,
          rowOf(bodies[index]!)?.outcome,
          (await store.find(clientId))?.state,
        ]);
        const expected = ({ clientId, fits }: (typeof cases)[number]): [string, number, Outcome, string] =>
          fits ? [clientId, 200, "applied", "completed"] : [clientId, 200, "inadmissible", "pending"];
        expect(ends).toEqual(cases.map(expected));
      },
    );
  });
});
