import { judgeWebhook } from "../../../src/cli/doctor/judge-webhook.js";
import { type WebhookReplies } from "../../../src/cli/doctor/probe/probe-webhook.js";
import { type Failure, type Reply } from "../../../src/cli/doctor/probe/send.js";

const address = "http://shop.example/payments/webhook";
const answer = (status: number, body: object | string = "", headers = {}): Reply => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
  atMs: 0,
});
const failure = (kind: Failure["failure"]): Reply => ({ failure: kind, reason: "a reason" });
const refused = answer(401, { error: "signature_invalid" });
const taken = answer(200, { received: true });

/** The replies of an app of the kit, in order but for these. */
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

/** Those of an app written by hand that verifies. */
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
  judgeWebhook(address, replies(changed)).map(({ code }) => code);

describe("the judgement of a webhook's address", () => {
  it("is nothing where all is in order, for an app of the kit and for one written by hand", () => {
    expect(codes({})).toEqual([]);
    expect(codes(byHand)).toEqual([]);
    // From outside there is nothing signed, and so nothing to say.
    for (const app of [{}, byHand]) {
      const { signed: _, spaced: __, ...outside } = replies(app);
      expect(judgeWebhook(address, outside)).toEqual([]);
    }
  });

  it.each<[string, Partial<WebhookReplies>, string]>([
    ["nobody listens", { unsigned: failure("unreachable") }, "app_unreachable"],
    ["the connection breaks", { unsigned: failure("broken") }, "app_unreachable"],
    ["the certificate is not valid", { unsigned: failure("certificate") }, "certificate_invalid"],
    ["nobody answers", { unsigned: failure("timeout") }, "webhook_hangs"],
    ["it is not there", { unsigned: answer(404) }, "webhook_not_mounted"],
    ["it takes no POST", { unsigned: answer(405, "Cannot POST") }, "webhook_not_mounted"],
    ["it redirects", { unsigned: answer(302, "", { location: "/login?next=x" }) }, "webhook_redirected"],
    ["it fails", { unsigned: answer(500, "<pre>TypeError</pre>") }, "webhook_fails"],
    ["its proxy finds no app", { unsigned: answer(502) }, "webhook_fails"],
    ["the kit cannot record", { unsigned: answer(503, { error: "unavailable" }) }, "record_unavailable"],
    ["a parser ate the body", { unsigned: answer(500, { error: "internal_error" }) }, "raw_body_consumed"],
    ["small bodies are too large", { unsigned: answer(413) }, "webhook_body_limited"],
    ["larger ones are", { long: answer(413) }, "webhook_body_limited"],
    ["JSON is not wanted", { unsigned: answer(415) }, "webhook_type_refused"],
    ["JSON with a charset is not", { forged: answer(415) }, "webhook_type_refused"],
    ["too many failed", { unsigned: answer(429, { error: "too_many_failures" }) }, "webhook_throttled"],
    ["somebody wants a login", { unsigned: answer(401, "Password?") }, "webhook_blocked"],
    ["slow bodies are cut off", { slow: failure("broken") }, "server_timeout_short"],
    ["slow bodies are late", { slow: answer(408) }, "server_timeout_short"],
    ["nothing is verified", { unsigned: taken, forged: taken, long: taken }, "signature_not_checked"],
    ["no signature will do", { unsigned: taken }, "signature_not_checked"],
    ["a wrong signature will do", { forged: answer(202) }, "signature_not_checked"],
    ["a long body needs none", { long: taken }, "signature_not_checked"],
    ["everything is answered", { unsigned: taken, elsewhere: taken }, "webhook_not_mounted"],
    ["the secret is another", { signed: refused }, "secret_differs"],
    ["an older secret is right", { signed: refused, takenWith: "the secret of OLD" }, "secret_differs"],
    ["the algorithm is another", { signed: refused, takenWith: "the algorithm sha512" }, "scheme_differs"],
    ["the fields are others", { signed: answer(400, { error: "bad_request" }) }, "scheme_differs"],
    ["a good one is not recorded", { signed: answer(503, { error: "unavailable" }) }, "record_unavailable"],
    ["a good one makes it fail", { signed: answer(500, "oops") }, "webhook_fails"],
    ["a good one finds no answer", { signed: failure("timeout") }, "webhook_hangs"],
    ["a good one is one too many", { signed: answer(429) }, "webhook_throttled"],
    ["somebody changes the answer", { signed: answer(200, "<html>ok</html>") }, "answer_altered"],
    ["spaces are lost", { spaced: refused }, "raw_body_rewritten"],
    ["by hand: the secret is another", { ...byHand, signed: answer(403) }, "secret_differs"],
    ["by hand: unknown topics are refused", { ...byHand, signed: answer(422) }, "unknown_topic_refused"],
    ["by hand: spaces are lost", { ...byHand, spaced: answer(403) }, "raw_body_rewritten"],
    [
      "by hand: everybody must log in",
      { ...byHand, unsigned: answer(401), elsewhere: answer(401), signed: answer(401) },
      "webhook_blocked",
    ],
  ])("where %s", (_what, changed, code) => {
    expect(codes(changed)).toEqual([code]);
  });

  it("tells where a redirect leads without its query, which may be secret", () => {
    const unsigned = answer(303, "", { location: "https://login.example/start?state=s3cret-word" });
    const [finding] = judgeWebhook(address, replies({ unsigned }));
    expect(finding!.message).toContain("https://login.example/start.");
    expect(finding!.message).not.toContain("s3cret-word");
  });
});
