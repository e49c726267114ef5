import { checkClock, checkWebhook } from "../../../src/cli/doctor/check-app.js";
import { type WebhookReplies } from "../../../src/cli/doctor/probe-webhook.js";
import { type SendFailure, type Reply, sendProbe } from "../../../src/cli/doctor/send.js";
import { type ProbedSubject } from "../../../src/cli/doctor/subject.js";
import { localServer } from "../../service/local-server.js";

const address = "http://shop.example/payments/webhook";
const settings = { header: "Service-Signature", merchantId: undefined };
const answer = (status: number, body: object | string = "", headers = {}): Reply => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
  atMs: 0,
});
const failure = (kind: SendFailure["failure"]): Reply => ({ failure: kind, reason: "a reason" });
const refused = answer(401, { error: "signature_invalid" });
const taken = answer(200, { received: true });

/** Returns the replies of an app of the kit that works, with these changes. */
function replies(changed: Partial<WebhookReplies> = {}): WebhookReplies {
  return {
    unsigned: refused,
    read: answer(405, { error: "method_not_allowed" }),
    forged: refused,
    long: refused,
    malformed: refused,
    slow: refused,
    elsewhere: answer(404),
    signed: taken,
    spaced: taken,
    ...changed,
  };
}

/** The replies of an app without the kit that verifies. */
const byHand: Partial<WebhookReplies> = {
  unsigned: answer(400, "no signature"),
  read: answer(404),
  forged: answer(403, "bad signature"),
  long: answer(403),
  malformed: answer(400),
  slow: answer(403),
  signed: answer(204),
  spaced: answer(204),
};

const codes = (changed: Partial<WebhookReplies>): string[] =>
  [...checkWebhook({ settings, webhook: address, replies: replies(changed) })].map(({ code }) => code);

describe("the check of a webhook's address", () => {
  it("finds nothing if all is well, for an app of the kit and for one without it", () => {
    expect(codes({})).toEqual([]);
    expect(codes(byHand)).toEqual([]);
    // From outside no webhook is signed.
    for (const app of [{}, byHand]) {
      const { signed: _, spaced: __, ...outside } = replies(app);
      expect([...checkWebhook({ settings, webhook: address, replies: outside })]).toEqual([]);
    }
  });

  it("takes a 404 of the application for a refusal, because another address gets another one", () => {
    const own = { ...byHand, unsigned: answer(404, "no such order"), elsewhere: answer(404, "Cannot POST") };
    expect(codes(own)).toEqual([]);
    expect(codes({ ...own, signed: answer(404, "no such order") })).toEqual(["unknown_topic_refused"]);
  });

  it("names the options that may have been forgotten where every signature is refused", () => {
    const [found] = checkWebhook({ webhook: address, replies: replies({ signed: refused }), settings });
    expect(found).toMatchObject({
      code: "secret_differs",
      message: expect.stringMatching(/give --merchant-id\. .* header Service-Signature: .* give --header\.$/),
    });
    const given = { ...settings, merchantId: "m-7" };
    const [other] = checkWebhook({
      webhook: address,
      replies: replies({ signed: refused }),
      settings: given,
    });
    expect(other!.message).not.toContain("--merchant-id");
  });

  it.each<[string, Partial<WebhookReplies>, string]>([
    ["the address cannot be reached", { unsigned: failure("unreachable") }, "app_unreachable"],
    ["the connection breaks", { unsigned: failure("broken") }, "app_unreachable"],
    ["the certificate is not valid", { unsigned: failure("certificate") }, "certificate_invalid"],
    ["there is no answer", { unsigned: failure("timeout") }, "webhook_hangs"],
    ["it is not found", { unsigned: answer(404) }, "webhook_not_mounted"],
    [
      "it is not found, on a page with its address and an id",
      {
        unsigned: answer(404, "Cannot POST /payments/webhook (a1b2c3d4)"),
        elsewhere: answer(404, "Cannot POST /payments/webhook-0123456789abcdef (e5f60718)"),
      },
      "webhook_not_mounted",
    ],
    ["it does not accept POST", { unsigned: answer(405, "Cannot POST") }, "webhook_not_mounted"],
    ["it redirects", { unsigned: answer(302, "", { location: "/login?next=x" }) }, "webhook_redirected"],
    ["it fails", { unsigned: answer(500, "<pre>TypeError</pre>") }, "webhook_fails"],
    ["its proxy finds no app", { unsigned: answer(502) }, "webhook_fails"],
    ["the kit cannot record", { unsigned: answer(503, { error: "unavailable" }) }, "record_unavailable"],
    [
      "a parser consumed the body",
      { unsigned: answer(500, { error: "internal_error" }) },
      "raw_body_consumed",
    ],
    ["a small body is refused as too large", { unsigned: answer(413) }, "webhook_body_limited"],
    ["only a larger body is", { long: answer(413) }, "webhook_body_limited"],
    ["JSON is refused", { unsigned: answer(415) }, "webhook_type_refused"],
    ["JSON with a charset is refused", { forged: answer(415) }, "webhook_type_refused"],
    [
      "too many requests failed",
      { unsigned: answer(429, { error: "too_many_failures" }) },
      "webhook_throttled",
    ],
    ["a login is required", { unsigned: answer(401, "Password?") }, "webhook_blocked"],
    ["slow bodies are cut off", { slow: failure("broken") }, "server_timeout_short"],
    ["slow bodies are answered with 408", { slow: answer(408) }, "server_timeout_short"],
    ["nothing is verified", { unsigned: taken, forged: taken, long: taken }, "signature_not_checked"],
    ["a missing signature is accepted", { unsigned: taken }, "signature_not_checked"],
    ["a wrong signature is accepted", { forged: answer(202) }, "signature_not_checked"],
    ["a long body with a wrong signature is accepted", { long: taken }, "signature_not_checked"],
    ["every address is answered", { unsigned: taken, elsewhere: taken }, "webhook_not_mounted"],
    ["the secret differs", { signed: refused }, "secret_differs"],
    ["an older secret is accepted", { signed: refused, acceptedWith: "the secret of OLD" }, "secret_differs"],
    ["the algorithm differs", { signed: refused, acceptedWith: "the algorithm sha512" }, "scheme_differs"],
    ["the fields differ", { signed: answer(400, { error: "bad_request" }) }, "scheme_differs"],
    ["a signed one is not recorded", { signed: answer(503, { error: "unavailable" }) }, "record_unavailable"],
    ["a signed one makes it fail", { signed: answer(500, "oops") }, "webhook_fails"],
    ["a signed one has no answer", { signed: failure("timeout") }, "webhook_hangs"],
    ["a signed one is throttled", { signed: answer(429) }, "webhook_throttled"],
    ["the answer is changed", { signed: answer(200, "<html>ok</html>") }, "answer_altered"],
    ["spaces are lost", { spaced: refused }, "raw_body_rewritten"],
    ["without the kit: the secret differs", { ...byHand, signed: answer(403) }, "secret_differs"],
    [
      "without the kit: unknown topics are refused",
      { ...byHand, signed: answer(422) },
      "unknown_topic_refused",
    ],
    ["without the kit: spaces are lost", { ...byHand, spaced: answer(403) }, "raw_body_rewritten"],
    [
      "without the kit: everybody must log in",
      { ...byHand, unsigned: answer(401), elsewhere: answer(401), signed: answer(401) },
      "webhook_blocked",
    ],
  ])("if %s", (_what, changed, code) => {
    expect(codes(changed)).toEqual([code]);
  });

  const throttled = answer(429, { error: "too_many_failures" });
  it.each<[string, Partial<WebhookReplies>, string[]]>([
    ["the body is limited, too", { unsigned: throttled, long: answer(413) }, ["webhook_body_limited"]],
    ["spaces are lost, too", { unsigned: throttled, spaced: refused }, ["raw_body_rewritten"]],
    ["the kit refuses the secret, too", { unsigned: throttled, signed: throttled }, ["secret_differs"]],
    [
      "another secret is accepted",
      { signed: answer(429), acceptedWith: "the secret of OLD" },
      ["secret_differs"],
    ],
    ["a proxy limits everything", { unsigned: answer(429), long: answer(429), signed: answer(429) }, []],
    ["a proxy limits only the last request", { spaced: answer(429) }, []],
    ["only a slow body is limited", { slow: answer(429) }, []],
  ])("reports too many requests once, and goes on with the other checks: %s", (_, changed, others) => {
    expect(codes(changed)).toEqual(["webhook_throttled", ...others]);
  });

  it("finds a clock that is off by more than a minute, and says in which direction", () => {
    const clock = (offMs: number) => {
      const unsigned = answer(401, "", { date: new Date(offMs).toUTCString() });
      return [...checkClock({ replies: { unsigned } } as ProbedSubject)].map(({ message }) => message);
    };
    for (const offMs of [0, 60_000, -60_000]) expect(clock(offMs)).toEqual([]);
    expect(clock(61_000)).toEqual(["The app's clock is 61 s ahead of this machine's."]);
    expect(clock(-180_000)).toEqual(["The app's clock is 3 min behind this machine's."]);
  });

  it("takes an answer that ends early for an answer", async () => {
    const server = await localServer((response) => {
      response.writeHead(401, { "Content-Length": 100 }).write("no");
      setImmediate(() => response.destroy());
    });
    const reply = await sendProbe(server.url, { body: "{}", now: () => new Date() });
    await server.close();
    expect(reply).toMatchObject({ status: 401 });
  });

  it("takes the first 64 KiB of an answer that does not end, at the time halfway to its first byte", async () => {
    const server = await localServer((response) => void response.write("x".repeat(70 * 1024)));
    const times = [1000, 3000].map((ms) => new Date(ms));
    const reply = await sendProbe(server.url, { body: "{}", now: () => times.shift()! });
    await server.close();
    expect(reply).toMatchObject({ status: 200, body: expect.stringMatching(/^x{65537,}$/), atMs: 2000 });
  });

  it("waits eight seconds for an answer, and longer by the pause in the body", async () => {
    const expired = AbortSignal.abort(new DOMException("It is over.", "TimeoutError"));
    const timeout = jest.spyOn(AbortSignal, "timeout").mockReturnValue(expired);
    const reply = await sendProbe(address, { body: "{}", pauseMs: 500, now: () => new Date() });
    expect(reply).toEqual({ failure: "timeout", reason: "no answer within 8.5 s" });
    expect(timeout).toHaveBeenCalledWith(8500);
    timeout.mockRestore();
  });

  it("names the target of a redirect without its query, which may be secret", () => {
    const unsigned = answer(303, "", { location: "https://login.example/start?state=s3cret-word" });
    const [finding] = checkWebhook({ settings, webhook: address, replies: replies({ unsigned }) });
    expect(finding!.message).toContain("https://login.example/start.");
    expect(finding!.message).not.toContain("s3cret-word");
  });
});
