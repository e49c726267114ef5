import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { openSandbox } from "../sandbox/open-sandbox.js";
import { tool, toolsFolder, withTools } from "./tools.js";

const run = promisify(execFile);

/** A merchant's program over the types that are made from the description. */
const program = `import createClient from "openapi-fetch";
import type { paths } from "./service.js";

const [baseUrl, client_id, client_secret] = process.argv.slice(2) as [string, string, string];
const service = createClient<paths>({ baseUrl });
const token = await service.POST("/oauth/token", {
  body: { grant_type: "client_credentials", client_id, client_secret },
  bodySerializer: (form) => new URLSearchParams({ ...form }),
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
});
if (token.error) throw new Error(token.error.error_description);
const { data, error } = await service.POST("/v1/payments", {
  headers: { Authorization: \`Bearer \${token.data.access_token}\` },
  body: {
    purchase: { total: { value: "1475", currency: "KMF" } },
    clientId: "order-1001-1",
    cancelUrl: "https://shop.example/cancel",
    successUrl: "https://shop.example/success",
  },
});
if (error) throw new Error(error.detail);
console.log(JSON.stringify({ id: data.data.id, pay: data.next }));
`;

withTools("the client that is made from the description", () => {
  let folder: string;
  beforeAll(() => {
    const parent = path.join(toolsFolder, ".tmp");
    mkdirSync(parent, { recursive: true });
    folder = mkdtempSync(path.join(parent, "client-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is made from the sandbox's description alone, compiles, and creates a payment that is paid", async () => {
    const { sandbox, merchant } = await openSandbox();
    await sandbox.start();
    const description = await (await fetch(`${sandbox.url}/openapi.json`)).text();
    writeFileSync(path.join(folder, "openapi.json"), description);
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(path.join(folder, "program.ts"), program);
    const options = { cwd: folder, encoding: "utf8" as const };
    await run(tool("openapi-typescript"), ["openapi.json", "--output", "service.ts"], options);
    const compiler = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    const types = ["--typeRoots", path.resolve(__dirname, "../../node_modules/@types")];
    await run(tool("tsc"), [...compiler, ...types, "program.ts"], options).catch(({ stdout }) => {
      throw new Error(String(stdout));
    });
    const { clientId, clientSecret } = sandbox.client;
    const { stdout } = await run(
      process.execPath,
      ["program.js", sandbox.url, clientId, clientSecret],
      options,
    );
    const { id, pay } = JSON.parse(stdout) as { id: string; pay: string };
    expect(pay).toBe(`${sandbox.url}/payment/submit/${id}`);
    const [delivery] = await sandbox.pay(id);
    expect(delivery).toMatchObject({ status: 200 });
    expect(merchant.webhooks).toHaveLength(1);
    expect(sandbox.find("order-1001-1")).toMatchObject({ status: "completed" });
  });
});
