import { fc } from "../../support/property.js";
import { type MemoryTx, type SignedField, type WebhookRejectedError } from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, statusBody, type WebhookBody } from "../../support/webhooks.js";
import { type Endpoint, openEndpoint, storeWith, watchSaves } from "./endpoint.js";
import { carelesslySigned, fields } from "./fields.js";

afterEach(closeAll);

/** One webhook for each possible outcome. */
const webhooks: WebhookBody[] = [
  completedBody(),
  statusBody("submitted", { submittedAt: null }),
  statusBody("failed"),
  statusBody("under_review"),
  completedBody({ total: { value: "1", currency: "KMF" } }),
  completedBody({ id: "another" }),
  completedBody({ clientId: "c-9", id: "s-9" }),
  completedBody({ total: { value: "1e3", currency: "KMF" } }),
  completedBody({ clientId: "c-2", id: "s-2" }),
  statusBody("refunded", { clientId: "c-2", id: "s-2" }),
];

const known = [
  {},
  {
    clientId: "c-2",
    reference: "order-2",
    serviceId: "s-2",
    state: "completed",
    status: "completed",
    open: false,
  },
] as const;

const options = {
  signature: fields,
  now: () => new Date("2026-11-20T10:00:00.000Z"),
  dispatch: false,
} as const;
const openOverHttp = () => openEndpoint(options, { payments: known });

/** Opens a kit that gets its webhooks without HTTP, which is much faster. */
async function openDirectly() {
  const store = await storeWith(known);
  const saved = watchSaves(store);
  const payments = testKit<SignedField, MemoryTx>({ store, ...options });
  const post = (body: string, headers: Record<string, string>) =>
    payments.receiveWebhook({ rawBody: Buffer.from(body), headers }).then(
      () => ({ status: 200 }),
      (error: unknown) => ({ status: (error as WebhookRejectedError).status }),
    );
  return { ...saved, payments, post };
}

type Direct = Awaited<ReturnType<typeof openDirectly>>;

/** Returns everything that is recorded as decided, without new ids and without unsigned fields. */
async function decided(
  bodies: readonly string[],
  signature: Record<string, string>,
  open: () => Promise<Endpoint | Direct> = openOverHttp,
) {
  const kit = await open();
  const statuses = [];
  for (const body of bodies) statuses.push((await kit.post(body, signature)).status);
  const payments = await Promise.all(["c-1", "c-2", "c-9"].map((clientId) => kit.payments.find(clientId)));
  const rows = kit.webhooks().map(({ receiptId: _, rawBody: __, ...row }) => row);
  const events = kit
    .events()
    .map(({ type, clientId, payload: { untrusted: _, receiptId: __, ...payload } }) => ({
      type,
      clientId,
      payload,
    }));
  const copies = kit.copies();
  await closeAll();
  return { statuses, ...withoutUnproven({ payments, rows, events, copies }) };
}

/** Leaves out what a payment keeps of a report that is not proven. */
function withoutUnproven<T extends object>(recorded: T): T {
  return JSON.parse(
    JSON.stringify(recorded),
    (key, value: { verified: string[]; at: string } | undefined) => {
      if (key !== "reported" || !value) return value;
      const proven = Object.entries(value).filter(([name]) => value.verified.includes(name));
      return { ...Object.fromEntries(proven), at: value.at, verified: value.verified };
    },
  ) as T;
}

const anything = fc.jsonValue({ maxDepth: 2 });
/** Fields of the interface document that the default list covers. */
const taken = ["id", "clientId", "status", "submittedAt", "total", "value", "currency", "data"];
const unknown = fc.dictionary(
  fc.oneof(
    fc.string(),
    fc.constantFrom("__proto__", "constructor", "Status", "status ", "merchantId", "eventKey"),
  ),
  anything,
  { maxKeys: 4 },
);
const unsigned = fc.record({
  top: fc.record({ topic: anything, type: anything, timestamp: anything }, { requiredKeys: [] }),
  data: fc.record({ captured: anything, providerId: anything, source: anything }, { requiredKeys: [] }),
  moreTop: unknown,
  moreData: unknown,
  moreTotal: unknown,
  backwards: fc.boolean(),
  indent: fc.constantFrom("", " ", "\t"),
});

type Unsigned = typeof unsigned extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the webhook with other unsigned fields. */
function rewritten(body: WebhookBody, change: Unsigned): string {
  const without = (more: object) => Object.entries(more).filter(([key]) => !taken.includes(key));
  const { topic: _, type: __, timestamp: ___, data, ...top } = { ...body };
  const { captured: ____, providerId: _____, source: ______, total, ...signed } = data;
  const ordered = (...entries: [string, unknown][]) =>
    Object.fromEntries(change.backwards ? entries.toReversed() : entries);
  return JSON.stringify(
    ordered(...Object.entries({ ...top, ...change.top }), ...without(change.moreTop), [
      "data",
      ordered(...Object.entries({ ...signed, ...change.data }), ...without(change.moreData), [
        "total",
        ordered(...Object.entries(total as object), ...without(change.moreTotal)),
      ]),
    ]),
    undefined,
    change.indent,
  );
}

it("Only covered fields stand as verified; the rest is under untrusted: no change of an unsigned field changes a recorded decision", async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...webhooks), unsigned, async (body, change) => {
      const signature = carelesslySigned(body);
      const genuine = JSON.stringify(body);
      const other = rewritten(body, change);
      const expected = await decided([genuine, genuine], signature);
      expect(expected.statuses).toEqual([200, 200]);
      // Alone, before the genuine one, and after it.
      expect(await decided([other, other], signature)).toEqual(expected);
      expect(await decided([other, genuine], signature)).toEqual(expected);
      expect(await decided([genuine, other], signature)).toEqual(expected);
      for (const { outcome } of expected.rows) outcomes.add(outcome);
    }),
    { numRuns: 120 },
  );
  expect(outcomes).toEqual(new Set(["applied", "mismatch", "unmatched", "inadmissible", "stale"]));
});

/** Members of an object as JSON text, which can say more than a value of JavaScript. */
type Members = readonly (readonly [key: string, value: string])[];

const digits = fc.array(fc.constantFrom(...Array.from("0123456789")), { minLength: 1, maxLength: 400 });
/** Numbers that no double can hold, and others that it rounds. */
const hugeNumber = fc
  .tuple(
    fc.constantFrom("", "-"),
    digits,
    fc.constantFrom("", "e400", "E-999", ".00000000000000000001", "e+7"),
  )
  .map(([sign, all, end]) => `${sign}1${all.join("")}${end}`);
const hugeString = fc
  .tuple(fc.constantFrom("x", "\u0000", "é", "𝄞", '"', "\\", "\u202e", "1475"), fc.nat(4000))
  .map(([text, count]) => JSON.stringify(text.repeat(count)));
const nested = (depth: number, isList: boolean, value: string) =>
  isList
    ? `${"[".repeat(depth)}${value}${"]".repeat(depth)}`
    : `${'{"total":'.repeat(depth)}${value}${"}".repeat(depth)}`;
/** Within the 32 levels of a webhook, wherever it stands. */
const deep = fc
  .tuple(fc.integer({ min: 1, max: 28 }), fc.boolean(), hugeNumber)
  .map((given) => nested(...given));
const plain = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
const rawValue = fc.oneof(plain, hugeNumber, hugeString, deep);
const tooDeep = fc.integer({ min: 33, max: 2000 }).map((depth) => nested(depth, depth % 2 === 0, "1"));

/** Writes a key in another way that means the same, so that equal keys cannot be found by their text. */
const escaped = (key: string) =>
  `"${Array.from(key)
    .map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")}"`;
const unsignedNames = ["topic", "type", "timestamp", "captured", "providerId", "source"];
const rawKey = fc
  .oneof(
    fc.string(),
    fc.constantFrom("__proto__", "constructor", "Status", "eventKey", "a.b", ""),
    fc.constantFrom(...unsignedNames),
  )
  .filter((key) => !taken.includes(key));
const members = fc
  .uniqueArray(fc.tuple(rawKey, rawValue, fc.boolean()), { maxLength: 4, selector: ([key]) => key })
  .map((all) => all.map(([key, value, isEscaped]) => [key, value, isEscaped] as const));

const addition = fc.record({
  top: members,
  data: members,
  total: members,
  /** Makes the body one that is refused as it stands, wherever that is. */
  spoil: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: tooDeep.map((value): Members => [["deep", value]]) },
    {
      weight: 1,
      arbitrary: rawValue.map((value): Members => [
        ["twice", value],
        ["twice", value],
      ]),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...taken.slice(1, 4)).map((key): Members => [[key, '"completed"']]),
    },
  ),
  where: fc.constantFrom("top", "data", "total"),
  isFirst: fc.boolean(),
  /** Whether the body arrives before the genuine one. */
  isBefore: fc.boolean(),
});
type Addition = typeof addition extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the webhook as text, with the additions. */
function withAdditions({ data: { total, ...data }, ...top }: WebhookBody, change: Addition): string {
  const object = (given: object, place: "top" | "data" | "total", inner: string[] = []) => {
    const added = change[place];
    const replaced = new Set(added.map(([key]) => key));
    const kept = Object.entries(given).filter(([key]) => !replaced.has(key));
    const genuine = kept.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    const spoiling = change.where === place ? (change.spoil ?? []) : [];
    const more = [
      ...added.map(([key, value, isEscaped]) => `${isEscaped ? escaped(key) : JSON.stringify(key)}:${value}`),
      ...spoiling.map(([key, value]) => `${escaped(key)}:${value}`),
    ];
    const all = [...genuine, ...inner];
    return `{${(change.isFirst ? [...more, ...all] : [...all, ...more]).join(",")}}`;
  };
  return object(top, "top", [
    `"data":${object(data, "data", [`"total":${object(total as object, "total")}`])}`,
  ]);
}

const runs = Number(process.env["TILLKIT_TEST_ADDITIONS"] ?? 2000);
it(
  `No unsigned addition of any kind changes a recorded decision: ${runs} generated ones`,
  async () => {
    const baselines = new Map<WebhookBody, Awaited<ReturnType<typeof decided>>>();
    for (const body of webhooks) {
      const genuine = JSON.stringify(body);
      baselines.set(body, await decided([genuine, genuine], carelesslySigned(body), openDirectly));
    }
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...webhooks), addition, async (body, change) => {
        const signature = carelesslySigned(body);
        const genuine = JSON.stringify(body);
        const other = withAdditions(body, change);
        const expected = baselines.get(body)!;
        const bodies = change.isBefore ? [other, genuine] : [genuine, other];
        const got = await decided(bodies, signature, openDirectly);
        const isRefused = got.statuses.includes(400);
        refused += Number(isRefused);
        // What can be read in two ways is refused, and only that. Then nothing of it is recorded.
        const recorded = isRefused ? { ...got, statuses: [200, 200], copies: 1 } : got;
        expect(recorded).toEqual(expected);
        return isRefused === hasTwoReadings(change);
      }),
      { numRuns: runs },
    );
    expect(refused).toBeGreaterThan(runs / 20);
    expect(refused).toBeLessThan(runs / 2);
  },
  runs * 20 + 60_000,
);

/** Returns whether the body has a key twice, or more than 32 levels. */
function hasTwoReadings({ spoil, where }: Addition): boolean {
  const [key] = spoil?.[0] ?? [];
  if (key === undefined || key === "deep" || spoil!.length > 1) return key !== undefined;
  // A signed field's name at a place where that field is not.
  return where === "data";
}
