import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import promises from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import request from "supertest";
import { refusedLimits, RefusedWebhooks } from "../../src/webhook/refused-webhooks.js";
import { collectedLog } from "../http/collected-log.js";
import { appOf, closeAll, testKit } from "../support/kit.js";
import { completedBody, signed } from "../support/webhooks.js";

const folder = mkdtempSync(path.join(tmpdir(), "tillkit-refused-"));
let directory: string;
beforeEach(() => {
  directory = path.join(mkdtempSync(path.join(folder, "test-")), "refused");
});
afterEach(closeAll);
afterAll(() => rmSync(folder, { recursive: true }));

const { headers, rawBody } = signed(completedBody());
const names = () => readdirSync(directory).toSorted();
const contents = () => names().map((name) => readFileSync(path.join(directory, name), "latin1"));

/** Returns a kit that keeps refused webhooks, and posts to its route. */
function keeping() {
  const { logger, lines } = collectedLog();
  const payments = testKit({ logger, webhook: { keepRefused: directory } });
  const app = appOf(payments);
  const post = (body: string, changed: object = {}, address = "/payments/webhook") =>
    request(app)
      .post(address)
      .set({ ...headers, ...changed })
      .send(body);
  return { payments, post, lines };
}

/** Returns what keeps webhooks, without a route. */
function keeper(header = "Service-Signature") {
  const { logger, lines } = collectedLog();
  const kept = new RefusedWebhooks({ directory, header, logger, now: () => new Date() });
  return { kept, lines };
}

describe("webhook.keepRefused", () => {
  it("writes a webhook with a wrong signature as a request that tillkit verify reads", async () => {
    const { payments, post } = keeping();
    const body = `${rawBody.toString()} `;
    await post(
      body,
      { cookie: "session=1", authorization: "Bearer abc", "x-api-key": "k", "x-webhook-token": "hush" },
      "/payments/webhook?token=t",
    ).expect(401);
    await payments.close();
    expect(names()).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d-]+Z-signature_mismatch-[\da-f]{8}\.http$/),
    ]);
    const [content = ""] = contents();
    const [head = "", kept] = content.split("\r\n\r\n");
    expect(kept).toBe(body);
    const lines = head.split("\r\n");
    expect(lines[0]).toBe("POST /payments/webhook HTTP/1.1");
    expect(lines).toContain("Tillkit-Refused: signature_mismatch");
    expect(lines).toContain(`service-signature: ${headers["service-signature"]}`);
    expect(lines).toContain("content-type: application/json");
    expect(content).not.toMatch(/session=1|Bearer abc|token=t|: k\r|hush/);
    expect(content).toMatch(/^Tillkit-Left-Out: .*authorization.*$/m);
    expect(content).toMatch(/^Tillkit-Left-Out: .*cookie.*$/m);
  });

  it("keeps what has no signature, a damaged one, and what is signed and inadmissible; not what the doctor sends", async () => {
    const { payments, post } = keeping();
    await post(rawBody.toString()).expect(200);
    await post(rawBody.toString(), { "content-type": "application/x-www-form-urlencoded" }).expect(415);
    await post(rawBody.toString(), { "service-signature": "none" }).expect(401);
    const inadmissible = signed("[]");
    await post("[]", inadmissible.headers).expect(200);
    await post(`${rawBody.toString()} `, { "user-agent": "tillkit-doctor" }).expect(401);
    await payments.close();
    expect(names().map((name) => name.split("-").at(-2))).toEqual(["signature_malformed", "inadmissible"]);
  });

  it("keeps what other frameworks give to receiveWebhook", async () => {
    const { payments } = keeping();
    await expect(payments.receiveWebhook({ rawBody, headers: {} })).rejects.toMatchObject({
      code: "signature_missing",
    });
    await payments.close();
    expect(contents()[0]).toMatch(/^POST \/ HTTP\/1\.1\r\nTillkit-Refused: signature_missing\r\n/);
  });

  it("lets only this user read, and says at the start and in the log of signatures where it is", async () => {
    const { payments, post, lines } = keeping();
    await payments.start({ keepAlive: false });
    await post(`${rawBody.toString()} `).expect(401);
    await payments.close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(directory, names()[0]!)).mode & 0o777).toBe(0o600);
    const said = lines
      .map(({ msg }) => String(msg))
      .filter((msg) => msg.includes(`npx tillkit verify --last --kept ${directory}`));
    expect(said).toEqual([
      expect.stringMatching(/^refused webhooks are kept in /),
      expect.stringMatching(/^the signatures of /),
    ]);
  });

  it.each<[string, () => void]>([
    ["is a link to another one", () => symlinkSync(mkdtempSync(path.join(folder, "other-")), directory)],
    [
      "all users may write to",
      () => {
        mkdirSync(directory);
        chmodSync(directory, 0o777);
      },
    ],
  ])("writes nothing to a directory that %s, and answers as before", async (_, plant) => {
    plant();
    const { payments, post, lines } = keeping();
    await post(`${rawBody.toString()} `).expect(401);
    await post(`${rawBody.toString()}  `).expect(401);
    await payments.close();
    expect(readdirSync(directory)).toEqual([]);
    const failed = lines.filter(({ msg }) => String(msg).startsWith("refused webhooks cannot be kept"));
    expect(failed).toMatchObject([{ option: "webhook.keepRefused", err: { code: "path_exposed" } }]);
  });

  it("answers as before where the disk refuses", async () => {
    writeFileSync(path.dirname(directory) + "/file", "");
    directory = path.join(path.dirname(directory), "file", "below");
    const { payments, post, lines } = keeping();
    await post(`${rawBody.toString()} `).expect(401);
    await payments.close();
    expect(lines.some(({ msg }) => String(msg).startsWith("refused webhooks cannot be kept"))).toBe(true);
  });

  it("keeps a burst of a flood, without waiting for the disk", async () => {
    const { kept } = keeper();
    for (let sent = 0; sent < 10_000; sent += 1) kept.keep({ rawBody, headers }, "signature_mismatch");
    expect(existsSync(directory)).toBe(false);
    await kept.close();
    expect(names().length).toBe(refusedLimits.burst);
  });

  it("keeps the header of the signature, whatever its name is", async () => {
    const { kept } = keeper("X-Own-Proof");
    kept.keep({ rawBody, headers: { "x-own-proof": "abc", "x-other": "def" } }, "signature_mismatch");
    await kept.close();
    expect(contents()[0]).toMatch(/\r\nTillkit-Left-Out: x-other\r\nx-own-proof: abc\r\n\r\n/);
  });

  it("keeps no header that usually has credentials, even if it has the signature", async () => {
    const { kept } = keeper("Authorization");
    const credentials = {
      authorization: "Bearer abc-hush",
      "proxy-authorization": "Basic hush",
      "x-webhook-auth": "hush",
      "x-webhook-credentials": "hush",
      "x-event-passphrase": "hush",
    };
    kept.keep({ rawBody, headers: { ...credentials, "x-signature-auth-date": "0" } }, "signature_mismatch");
    await kept.close();
    expect(contents()[0]).not.toContain("hush");
    expect(contents()[0]).toContain(`\r\nTillkit-Left-Out: ${Object.keys(credentials).join(", ")}\r\n`);
  });

  it.each([
    ["X-Webhook-Token", false],
    ["X-Signature-Key", true],
    ["X-Webhook-Auth", false],
  ])("of the signature's header %s keeps the value: %s", async (header, isKept) => {
    const { kept } = keeper(header);
    kept.keep({ rawBody, headers: { [header.toLowerCase()]: "0abc" } }, "signature_mismatch");
    await kept.close();
    expect(contents()[0]!.includes("0abc")).toBe(isKept);
  });

  it("keeps one more a second after a burst, and a burst again after a pause", async () => {
    let time = 0;
    const clock = jest.spyOn(performance, "now").mockImplementation(() => time);
    const { kept } = keeper();
    const keptAfter = async (ms: number) => {
      time += ms;
      const before = existsSync(directory) ? names().length : 0;
      for (let sent = 0; sent < 30; sent += 1) kept.keep({ rawBody, headers }, "signature_mismatch");
      await kept.close();
      return names().length - before;
    };
    const counts: number[] = [];
    for (const ms of [0, 1000, 999, 1, 3_600_000]) counts.push(await keptAfter(ms));
    clock.mockRestore();
    expect(counts).toEqual([20, 1, 0, 1, 20]);
  });

  it("tells each time that keeping begins to fail", async () => {
    const { kept, lines } = keeper();
    mkdirSync(directory);
    for (const mode of [0o777, 0o777, 0o700, 0o777]) {
      chmodSync(directory, mode);
      kept.keep({ rawBody, headers }, "signature_mismatch");
      await kept.close();
    }
    expect(names()).toHaveLength(1);
    expect(lines).toHaveLength(2);
  });

  it("removes old files every hour until it is closed, by a timer that does not keep the process alive", async () => {
    const [interval, cleared] = [
      jest.spyOn(globalThis, "setInterval"),
      jest.spyOn(globalThis, "clearInterval"),
    ];
    const { kept } = keeper();
    kept.start();
    await kept.close();
    const [prune, ms] = interval.mock.calls[0]! as [() => void, number];
    const timer = interval.mock.results[0]!.value as NodeJS.Timeout;
    expect([ms, timer.hasRef(), cleared.mock.calls]).toEqual([3_600_000, false, [[timer]]]);
    const old = path.join(directory, "2020-01-01T00-00-00-000Z-x.http");
    writeFileSync(old, "");
    utimesSync(old, 0, 0);
    prune();
    await kept.close();
    expect(names()).toEqual([]);
    for (const spy of [interval, cleared]) spy.mockRestore();
  });

  it("removes old files also where another process removes one of them meanwhile", async () => {
    mkdirSync(directory, { mode: 0o700 });
    const [gone, old] = ["2020-01-02T00-00-00-000Z-x.http", "2020-01-01T00-00-00-000Z-x.http"];
    writeFileSync(path.join(directory, old), "");
    utimesSync(path.join(directory, old), 0, 0);
    const listed = jest.spyOn(promises, "readdir").mockResolvedValue([gone, old] as never);
    const { kept } = keeper();
    kept.start();
    await kept.close();
    listed.mockRestore();
    expect(names()).toEqual([]);
  });

  it("removes the oldest beyond the limit of files and of bytes, and what is older than a week", async () => {
    mkdirSync(directory, { mode: 0o700 });
    const plant = (name: string, bytes: number) =>
      writeFileSync(path.join(directory, name), Buffer.alloc(bytes));
    for (let at = 100; at < 100 + refusedLimits.files; at += 1) plant(`2020-01-01T00-00-00-${at}Z-x.http`, 1);
    plant("2020-01-01T00-00-01-000Z-x.http", 1);
    utimesSync(path.join(directory, "2020-01-01T00-00-01-000Z-x.http"), 0, 0);
    const { kept } = keeper();
    kept.keep({ rawBody, headers }, "signature_mismatch");
    await kept.close();
    expect(names().length).toBe(refusedLimits.files - 1);
    expect(names()[0]).toBe("2020-01-01T00-00-00-102Z-x.http");
    expect(names().some((name) => name.startsWith("2020-01-01T00-00-01"))).toBe(false);

    plant("2021-01-01T00-00-00-000Z-x.http", refusedLimits.bytes);
    kept.keep({ rawBody, headers }, "signature_mismatch");
    await kept.close();
    expect(names().map((name) => name.split("-").at(-2))).toEqual([
      "signature_mismatch",
      "signature_mismatch",
    ]);
  });

  it("removes what a crash has left of a file, and nothing that is still written", async () => {
    mkdirSync(directory, { mode: 0o700 });
    const drafts = ["0", "1"].map((digit) => path.join(directory, `.${digit.repeat(16)}.tmp`));
    for (const draft of drafts) writeFileSync(draft, "");
    const old = Date.now() / 1000 - 3 * 3600;
    utimesSync(drafts[0]!, old, old);
    const { kept } = keeper();
    kept.start();
    await kept.close();
    expect(names()).toEqual([path.basename(drafts[1]!)]);
  });

  it("does not keep a request that is larger than a file may be", async () => {
    const { kept } = keeper();
    kept.keep({ rawBody: Buffer.alloc(refusedLimits.fileBytes), headers }, "signature_mismatch");
    await kept.close();
    expect(existsSync(directory)).toBe(false);
  });

  it("writes no line that a header makes up", async () => {
    const { kept } = keeper();
    const planted = { "x-signature": "a\r\nservice-signature: b\r\n\r\nbody", "bad name": "1" };
    kept.keep({ rawBody, headers: planted, method: "GET x", url: "/a b\r\n" }, "signature_missing");
    await kept.close();
    expect(contents()[0]?.split("\r\n").slice(0, 1)).toEqual(["POST /a_b__ HTTP/1.1"]);
    expect(contents()[0]).toContain("x-signature: a  service-signature: b    body\r\n\r\n");
  });
});
