import { clientCredentials } from "tillkit";
import { closeAll } from "../../support/kit.js";
import { secrets as known } from "./known-secrets.js";
import { betrayals, openKit, show, showError, showFiles, shown, watchEverything } from "./witness.js";

watchEverything();

describe("no secret, token or signature is shown", () => {
  it("by the errors of a creation, whatever the service and its client repeat", async () => {
    const token = known["the access token"];
    const echoes = [
      token,
      Buffer.from(token).toString("hex"),
      Buffer.from(token).toString("base64"),
      encodeURIComponent(token),
    ].join(" ");
    const answer = (status: number) => async () =>
      Response.json({ title: echoes, detail: echoes, id: echoes }, { status });
    const failing = (message: string) => async (_: unknown, init?: RequestInit) => {
      const config = { headers: init?.headers, data: init?.body };
      throw Object.assign(new TypeError(message), {
        config,
        cause: Object.assign(new Error(message), { config }),
      });
    };
    const fetches: Record<string, typeof globalThis.fetch> = {
      "a refusal": answer(422),
      "a refused token": answer(401),
      "a fault": answer(500),
      "an answer that is not the envelope": answer(201),
      "a redirect": async () =>
        new Response(null, { status: 302, headers: { location: `https://x.example/${token}` } }),
      "a broken connection": failing("fetch failed"),
      "a client that repeats the header": failing(
        `Headers.append: "Bearer ${token}" is an invalid header value`,
      ),
    };
    for (const [what, fetch] of Object.entries(fetches)) {
      const payments = openKit("creations", {
        service: { baseUrl: "https://pay.invalid", accessToken: token, fetch },
      });
      await showError(what, () =>
        payments.create({ reference: what, total: { value: "1", currency: "KMF" } }),
      );
    }
    await closeAll();
    showFiles();
    expect(shown.length).toBeGreaterThan(7);
    expect(betrayals()).toEqual([]);
  });

  it("by the errors of an access token that cannot be obtained", async () => {
    const clientSecret = known["the client secret"];
    const issued = known["the token that was issued"];
    const form = new URLSearchParams({ client_secret: clientSecret }).toString();
    const echo = { error: "invalid_client", error_description: `${clientSecret} ${form}`, access_token: 7 };
    const fetches: Record<string, typeof globalThis.fetch> = {
      "a refusal": async () => Response.json(echo, { status: 401 }),
      "a fault": async () => Response.json(echo, { status: 503 }),
      "an answer without a token": async () => Response.json(echo),
      "a token that cannot be sent": async () =>
        Response.json({ access_token: `${issued} x`, expires_in: 60 }),
      "a client that repeats the form": async (_, init) => {
        throw Object.assign(new Error(`could not send ${init?.body as string}`), {
          body: init?.body,
        });
      },
    };
    for (const [what, fetch] of Object.entries(fetches)) {
      const accessToken = clientCredentials({
        tokenUrl: "https://id.invalid/token",
        clientId: "shop",
        clientSecret,
        fetch,
      });
      show("the source of tokens", accessToken);
      await showError(what, () => accessToken.get());
      const payments = openKit("tokens", { service: { baseUrl: "https://pay.invalid", accessToken } });
      await showError(`${what}, in a creation`, () =>
        payments.create({ reference: what, total: { value: "1", currency: "KMF" } }),
      );
    }
    const service = async (_: unknown, init?: RequestInit) => {
      const sent = new Headers(init?.headers).get("authorization");
      return Response.json({ title: sent, detail: sent }, { status: 400 });
    };
    const once = clientCredentials({
      tokenUrl: "https://id.invalid/token",
      clientId: "shop",
      clientSecret,
      fetch: async () => Response.json({ access_token: issued }),
    });
    const payments = openKit("tokens", {
      service: { baseUrl: "https://pay.invalid", accessToken: once, fetch: service },
    });
    await showError("a service that repeats the token", () =>
      payments.create({ reference: "x", total: { value: "1", currency: "KMF" } }),
    );
    await closeAll();
    showFiles();
    expect(betrayals()).toEqual([]);
  });
});
