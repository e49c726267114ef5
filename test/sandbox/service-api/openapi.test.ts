import request from "supertest";
import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { checkDescription, checkerOf } from "./description-checker.js";

const order = {
  purchase: { total: { value: "1475", currency: "KMF" } },
  clientId: "c-1",
  cancelUrl: "http://shop.example/cancel",
  successUrl: "https://shop.example/success",
};

const settings: readonly SandboxOptions[] = [
  {},
  { successStatus: 200, echoClientId: true, readBack: true },
  { successStatus: 202, errorBodies: "bare", readBack: true, readBackBare: true, strict: false },
  { errorBodies: "html" },
];

type Method = "get" | "post";

/** Sends requests of every kind, and passes each answer to `check` with its place in the description. */
async function askEverything(
  sandbox: Sandbox,
  check: (path: string, method: Method, answer: request.Response) => void,
): Promise<void> {
  const { app, settings: current } = sandbox;
  const { clientId: client_id, clientSecret: client_secret } = sandbox.client;
  const token = async (form: object) =>
    check("/oauth/token", "post", await request(app).post("/oauth/token").type("form").send(form));
  await token({ grant_type: "client_credentials", client_id, client_secret });
  await token({ grant_type: "password" });
  await token({ grant_type: "client_credentials", client_id, client_secret: "wrong" });

  const authorization = `Bearer ${sandbox.accessToken()}`;
  const create = (body: object | string, type = "application/json") =>
    request(app).post("/v1/payments").set("Authorization", authorization).type(type).send(body);
  const created = await create(order);
  check("/v1/payments", "post", created);
  check("/v1/payments", "post", await create({ ...order, purchase: {} }));
  check("/v1/payments", "post", await create("{"));
  check("/v1/payments", "post", await create({ ...order, clientId: "c".repeat(70_000) }));
  check("/v1/payments", "post", await request(app).post("/v1/payments").send(order));
  sandbox.scenario({ name: "down", creation: { answer: "error", status: 500 } });
  check("/v1/payments", "post", await create({ ...order, clientId: "c-2" }));

  if (!current.readBack) return;
  const { id } = created.body.data;
  const read = (path: string) => request(app).get(path).set("Authorization", authorization);
  check("/v1/payments", "get", await read("/v1/payments?limit=1"));
  check("/v1/payments/{id}", "get", await read(`/v1/payments/${id}`));
  await sandbox.pay(id);
  check("/v1/payments/{id}", "get", await read(`/v1/payments/${id}`));
  check("/v1/payments/{id}", "get", await read("/v1/payments/unknown"));
  check("/v1/payments", "get", await request(app).get("/v1/payments"));
}

describe("the description of the service", () => {
  it.each(settings)("is OpenAPI 3.1, and each answer is as it says: %j", async (options) => {
    const sandbox = createSandbox(options);
    const { body: description } = await request(sandbox.app).get("/openapi.json").expect(200);
    checkDescription(description);
    const check = checkerOf(description);
    const checked: string[] = [];
    await askEverything(sandbox, (path, method, answer) => {
      const problems = check(path, method, answer);
      checked.push(`${method} ${path} ${answer.status}`);
      expect({ path, method, status: answer.status, problems }).toEqual({
        path,
        method,
        status: answer.status,
        problems: [],
      });
    });
    const paths = Object.entries<object>(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect([...new Set(checked.map((one) => one.slice(0, one.lastIndexOf(" "))))].toSorted()).toEqual(
      paths.toSorted(),
    );
  });

  it("accepts the requests that the sandbox accepts, and refuses those without a field", async () => {
    const { body: description } = await request(createSandbox().app).get("/openapi.json");
    const accepts = checkerOf(description).request("/v1/payments", "post");
    expect(accepts(order)).toEqual([]);
    for (const field of Object.keys(order)) expect(accepts({ ...order, [field]: undefined })).not.toEqual([]);
    const priced = (value: unknown) => ({ ...order, purchase: { total: { value, currency: "KMF" } } });
    for (const value of [1475, "-1", "1,000", "1e3", "1.23456"])
      expect(accepts(priced(value))).not.toEqual([]);
  });

  it("says what a request needs, how to page, and whether the sandbox is lenient", async () => {
    const { app } = createSandbox({ readBack: true, strict: false });
    const { body, headers } = await request(app).get("/openapi.json");
    const { post, get } = body.paths["/v1/payments"];
    const security = [{ accessToken: [] }];
    expect(post).toMatchObject({ security, requestBody: { required: true } });
    expect(get).toMatchObject({
      security,
      parameters: [
        { name: "offset", in: "query" },
        { name: "limit", in: "query" },
      ],
    });
    expect(headers["cache-control"]).toBe("no-store");
    const { body: strict } = await request(createSandbox().app).get("/openapi.json");
    const told = [body, strict].map(({ info }) => /lenient/.test(info.description));
    expect(told).toEqual([true, false]);
  });

  it("names the address under which it was asked for", async () => {
    const { app } = createSandbox({ publicUrl: "https://sandbox.example/base" });
    const { body } = await request(app).get("/openapi.json").set("Host", "sandbox.example");
    expect(body.servers).toEqual([{ url: expect.stringMatching(/^https:\/\/sandbox\.example/) }]);
  });
});
