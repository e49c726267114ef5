import { type SignatureScheme } from "tillkit";
import { closeAll, scheme } from "../../support/kit.js";
import { completedBody, signed, statusBody } from "../../support/webhooks.js";
import {
  converse,
  headOf,
  openEndpoint,
  readAnswer,
  versions,
  type Answer,
  type Endpoint,
} from "./endpoint.js";
import { fields } from "./fields.js";

afterEach(closeAll);

const { rawBody, headers } = signed(completedBody());
const bad = { ...headers, "service-signature": "0".repeat(64) };

/** Sends this many failures one by one. Resolves with their statuses. */
async function fail(kit: Endpoint, times: number, more: Record<string, string> = {}) {
  const statuses: number[] = [];
  for (let n = 0; n < times; n += 1) statuses.push((await kit.post(rawBody, { ...bad, ...more })).status);
  return statuses;
}

const five = { webhook: { failures: { perMinute: 1, burst: 5 } } };

it("Flood of bad signatures: 401 at first, so that a service with a wrong secret can notice it, and then 429 with Retry-After", async () => {
  const kit = await openEndpoint(five);
  expect(await fail(kit, 7)).toEqual([401, 401, 401, 401, 401, 429, 429]);
  const { status, headers, text } = await kit.post(rawBody, bad);
  expect([status, text]).toEqual([429, '{"error":"too_many_failures"}']);
  expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(55);
  expect(Number(headers["retry-after"])).toBeLessThanOrEqual(60);
  expect(kit.webhooks()).toEqual([]);
  // The log and the count keep the true reason. One line more tells the rate.
  expect(kit.log.map(({ code }) => code)).toEqual(Array(9).fill("signature_mismatch"));
  expect((await kit.payments.health()).rejections).toEqual({
    byCode: { signature_mismatch: 8 },
    throttled: 3,
  });
});

it("Flood of bad signatures: a good webhook among them is answered 200, and is not counted", async () => {
  const kit = await openEndpoint(five);
  await fail(kit, 6);
  expect((await kit.post(rawBody, headers)).status).toBe(200);
  for (let n = 0; n < 20; n += 1) expect((await kit.post(rawBody, headers)).status).toBe(200);
  expect(await fail(kit, 1)).toEqual([429]);
});

it("Flood of bad signatures: 20 good webhooks among 400 concurrent bad ones are all answered 200", async () => {
  const kit = await openEndpoint();
  const good = Array.from({ length: 20 }, (_, n) =>
    statusBody("submitted", { submittedAt: new Date(1_800_000_000_000 + n).toISOString() }),
  );
  const from = performance.now();
  const sent: Promise<Answer>[] = [];
  for (let n = 0; n < 400; n += 1) {
    sent.push(kit.post(rawBody, bad));
    const body = n % 20 === 0 ? good[n / 20] : undefined;
    if (body) sent.push(kit.post(JSON.stringify(body), signed(body).headers));
  }
  const answers = await Promise.all(sent);
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  expect(count(200)).toBe(20);
  // The default budget: a hundred, and one more for each second.
  expect(count(401)).toBeGreaterThanOrEqual(100);
  expect(count(401)).toBeLessThanOrEqual(101 + (performance.now() - from) / 1000);
  expect(count(401) + count(429)).toBe(400);
});

it("Flood of bad signatures: verification always runs", async () => {
  let verified = 0;
  const signature: SignatureScheme = {
    header: "service-signature",
    covers: "body",
    verify: (input) => ((verified += 1), scheme.verify(input)),
  };
  const kit = await openEndpoint({ ...five, signature });
  await fail(kit, 30);
  expect(verified).toBe(30);
});

it("Flood of bad signatures: fields that cannot be read are counted, and requests that were refused unread are not", async () => {
  const kit = await openEndpoint({ ...five, signature: fields });
  for (let n = 0; n < 20; n += 1) {
    expect((await kit.post(rawBody, { ...bad, "content-type": "multipart/form-data" })).status).toBe(415);
    expect((await kit.post("x".repeat(70_000), bad)).status).toBe(413);
    expect((await kit.get("/payments/webhook")).status).toBe(405);
  }
  const statuses = [];
  for (let n = 0; n < 7; n += 1) statuses.push((await kit.post("{", bad)).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429]);
});

it("Flood of bad signatures: no answer is changed where the merchant switches this off", async () => {
  const kit = await openEndpoint({ webhook: { failures: false } });
  expect(new Set(await fail(kit, 150))).toEqual(new Set([401]));
  expect((await kit.payments.health()).rejections.throttled).toBe(0);
});

describe.each(versions)("on %s", (_, express) => {
  const from = (address: string) => ({
    "x-forwarded-for": address,
    forwarded: `for=${address}`,
    "x-real-ip": address,
  });

  it("Flood of bad signatures: a header of the sender cannot choose the client for which a failure is counted", async () => {
    const kit = await openEndpoint(five, { express });
    const statuses = [];
    for (let n = 0; n < 8; n += 1) statuses.push(...(await fail(kit, 1, from(`192.0.2.${n}`))));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  });

  it("Flood of bad signatures: behind a proxy that Express trusts, each client has a budget of its own", async () => {
    const before = (app: ReturnType<typeof express>) => app.set("trust proxy", "loopback");
    const kit = await openEndpoint(five, { express, before });
    expect(await fail(kit, 6, from("192.0.2.1"))).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await fail(kit, 1, from("192.0.2.2"))).toEqual([401]);
    // The sender's own value is to the left of the proxy's value.
    expect(await fail(kit, 1, from("203.0.113.9, 192.0.2.1"))).toEqual([429]);
    // One subscriber has a complete /64.
    const six = Array.from({ length: 6 }, (_, n) => fail(kit, 1, from(`2001:db8:1:2::${n}`)));
    const statuses = (await Promise.all(six)).flat();
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(await fail(kit, 1, from("2001:db8:1:3::1"))).toEqual([401]);
    expect((await kit.post(rawBody, { ...headers, ...from("192.0.2.1") })).status).toBe(200);
  });

  it("Flood of bad signatures: a header without an address, of any length, is not kept and is not an error", async () => {
    const before = (app: ReturnType<typeof express>) => app.set("trust proxy", true);
    const kit = await openEndpoint(five, { express, before });
    const statuses = [];
    for (const text of ["", "unknown", ",", "x".repeat(8000), "1.2.3.4.5", "::1::", "'", "192.0.2.1:80"])
      statuses.push(...(await fail(kit, 1, { "x-forwarded-for": text })));
    // All of them count as the socket's address, except an empty header, which Express ignores.
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  });
});

it("Flood of bad signatures: is answered on a connection that stays open, pipelined or not", async () => {
  const kit = await openEndpoint(five);
  const one = headOf([`Content-Length: ${rawBody.length}`, `Service-Signature: ${bad["service-signature"]}`]);
  const last = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  const said = await converse(
    kit.url,
    [one, one, one, one, one, one, last].map((head) => head + rawBody.toString()).join(""),
  );
  const statuses = said.split(/(?=HTTP\/1\.1 )/).map((answer) => readAnswer(answer).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
});
