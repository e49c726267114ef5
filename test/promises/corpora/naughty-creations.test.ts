import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCode, type PaymentRequest, type Payments, type SignedField, type TillkitError } from "tillkit";
import { sqliteStore, type SqlTx } from "tillkit/sql";
import { withCorpus } from "../../webhook/message/corpora.js";
import { appOf, closeAll, serve, testKit } from "../../support/kit.js";
import { saidBy, shapeOf } from "../../support/markup.js";
import { type Creation, type Data, willingService } from "../../support/willing-service.js";
import { runConcurrently, isPrintable, send } from "./world.js";

const total = { value: "1475", currency: "KMF" };

describe("strings that break software, in a creation", () => {
  withCorpus("naughty-strings", (folder) => {
    const strings: string[] = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8"));
    const place = mkdtempSync(join(tmpdir(), "tillkit-naughty-"));
    const { sent, options } = willingService();
    const creationOf = (clientId: string): Creation =>
      sent.find((creation) => creation.clientId === clientId)!;
    let payments: Payments<SignedField, SqlTx>;
    let url: string;

    beforeAll(async () => {
      payments = testKit<SignedField, SqlTx>({
        publicUrl: "https://shop.example",
        service: options,
        store: sqliteStore(join(place, "shop.db")),
        returns: {
          backUrl: "/orders/{reference}",
          cancelUrl: "https://shop.example/{reference}?of={clientId}#{reference}",
        },
      });
      url = await serve(appOf(payments));
    });
    afterAll(async () => {
      await closeAll();
      rmSync(place, { recursive: true });
    });

    /** Creates one payment. Resolves with its clientId, or with the code of the error. */
    async function create(request: PaymentRequest): Promise<{ clientId: string } | { code: string }> {
      try {
        const { clientId } = await payments.create(request);
        return { clientId };
      } catch (error) {
        return { code: (error as TillkitError).code };
      }
    }

    describe("as the reference", () => {
      const lengthOf = (text: string) => Array.from(text).length;
      const fits = (text: string) =>
        lengthOf(text) >= 1 && lengthOf(text) <= 200 && isPrintable(text) && !/^\.+$/.test(text);
      const created = new Map<string, string>();

      it("are refused before anything is sent, or stored unchanged", async () => {
        const results = await runConcurrently(strings, (reference) => create({ reference, total }));
        for (const [index, result] of results.entries()) {
          const reference = strings[index]!;
          expect([reference, "code" in result ? result.code : "created"]).toEqual([
            reference,
            fits(reference) ? "created" : "reference_invalid",
          ]);
          if ("clientId" in result) created.set(reference, result.clientId);
        }
        expect(sent.length).toBe(new Set(strings.filter(fits)).size);
        for (const [reference, clientId] of created)
          expect(await payments.find(clientId)).toMatchObject({ reference, state: "pending", total });
      });

      it("are shown on the return page as text, and change none of its tags", async () => {
        const shapes = new Set<string>();
        await runConcurrently([...created], async ([reference, clientId]) => {
          const path = new URL(creationOf(clientId).successUrl).pathname;
          const { status, body } = await send(url, { path: `/payments${path}` });
          expect([reference, status]).toEqual([reference, 200]);
          shapes.add(shapeOf(body).join(""));
          const said = saidBy(body);
          expect([reference, said.filter((text) => text === reference).length > 0]).toEqual([
            reference,
            true,
          ]);
          expect(said).toContain(`/orders/${encodeURIComponent(reference)}`);
        });
        expect(shapes.size).toBe(1);
      });

      it("stay in one part of the merchant's own address in a redirect", async () => {
        await runConcurrently([...created], async ([reference, clientId]) => {
          const path = new URL(creationOf(clientId).cancelUrl).pathname;
          const { status, headers } = await send(url, { path: `/payments${path}` });
          const part = encodeURIComponent(reference);
          expect([status, headers["location"]]).toEqual([
            303,
            `https://shop.example/${part}?of=${clientId}#${part}`,
          ]);
          expect(new URL(String(headers["location"])).host).toBe("shop.example");
        });
      });
    });

    it.each([
      ["clientId", "client_id_invalid", (text: string) => /^(?!\.+$)[A-Za-z0-9._:-]{1,64}$/.test(text)],
      ["value", "amount_invalid", (text: string) => /^[1-9][0-9]{0,15}(\.0{1,4})?$/.test(text)],
      ["currency", "currency_invalid", (text: string) => /^[A-Z]{3}$/.test(text)],
      ["locale", "locale_invalid", (text: string) => /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(text)],
    ] as const)("as the %s are refused with %s, or sent unchanged", async (field, code, fits) => {
      const results = await runConcurrently(strings, (text) => {
        const change =
          field === "value" || field === "currency"
            ? { total: { ...total, [field]: text } }
            : { [field]: text };
        return create({ reference: `${field} ${strings.indexOf(text)}`, total, ...change });
      });
      for (const [index, result] of results.entries()) {
        const text = strings[index]!;
        expect([text, "code" in result ? result.code : "created"]).toEqual([
          text,
          fits(text) ? "created" : code,
        ]);
        if (!("clientId" in result)) continue;
        const { clientId, purchase } = creationOf(result.clientId);
        const seen = { ...purchase.total, clientId, locale: text };
        expect(seen[field]).toBe(text);
      }
    });
  });
});

describe("strings that break software, in the service's answer to a creation", () => {
  withCorpus("naughty-strings", (folder) => {
    const strings: string[] = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8"));
    afterEach(closeAll);

    it.each([
      ["id", (data: Data, text: string) => ({ ...data, id: text })],
      ["status", (data: Data, text: string) => ({ ...data, status: text })],
      ["billing.submitUrl", (data: Data, text: string) => ({ ...data, billing: { submitUrl: text } })],
      [
        "purchase.total.currency",
        (data: Data, text: string) => ({
          ...data,
          purchase: { total: { ...total, currency: text } },
        }),
      ],
    ])("as %s give a known payment, or an error with a code and an uncertain payment", async (_, change) => {
      let text = "";
      const { options, sent } = willingService((data) => change(data, text));
      const payments = testKit({ service: options });
      for (const [index, naughty] of strings.entries()) {
        text = naughty;
        const reference = `order ${index}`;
        const error: unknown = await payments.create({ reference, total }).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        const payment = await payments.find(sent.at(-1)!.clientId);
        expect(payment?.reference).toBe(reference);
        const known = error === undefined;
        expect([naughty, known || hasCode(error, "creation_response_invalid"), payment?.state]).toEqual([
          naughty,
          true,
          known ? "pending" : "uncertain",
        ]);
      }
    });
  });
});
